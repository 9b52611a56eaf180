/** How many sessions each of several claimants should have if there are not enough; shares.ts explains the rules. */
import type { SessionNeeds } from './share-messages.js';

export interface Claimant {
  readonly held: number;
  readonly waiting: number;
  readonly needs: SessionNeeds;
  /** The result. */
  share: number;
}

/** Clients' requests before watched folders, each by how long the first one has waited. */
export function inOrder({ needs: one }: Claimant, { needs: other }: Claimant): number {
  return Number(other.isRequest) - Number(one.isRequest) || one.since - other.since;
}

/** Sets every claimant's share; they add up to `limit` at most. */
export function shareOut(claimants: readonly Claimant[], limit: number): void {
  let left = limit;
  const raise = (claimant: Claimant, to: number): void => {
    const more = Math.min(left, Math.max(0, Math.min(to, need(claimant)) - claimant.share));
    claimant.share += more;
    left -= more;
  };
  for (const claimant of claimants) claimant.share = 0;
  const ordered = claimants.filter((claimant) => need(claimant) > 0).sort(inOrder);
  const even = Math.ceil(limit / ordered.length);
  for (const claimant of ordered) {
    if (claimant.needs.isFresh) raise(claimant, Math.min(claimant.held, Math.max(claimant.needs.atOnce, even)));
  }
  for (const claimant of ordered) raise(claimant, claimant.needs.atOnce);
  for (const most of [need, held]) {
    while (left > 0) {
      // The smallest share grows; among equal ones, that of the claimant that has the session already.
      const [next] = claimants
        .filter((claimant) => claimant.share < most(claimant))
        .sort((one, other) => one.share - other.share || other.held - one.held);
      if (next === undefined) break;
      next.share++;
      left--;
    }
  }
}

const need = ({ needs, held, waiting }: Claimant): number => Math.min(needs.sessions, held) + waiting;
const held = (claimant: Claimant): number => claimant.held;
