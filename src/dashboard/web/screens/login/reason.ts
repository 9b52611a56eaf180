import type { SessionEnd } from '../../api/session-end.ts';
import type { Session } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { HOUR_MS } from '../../../../contract/units.ts';

/** Why a session ended, in words, with its duration if that is known. */
export function reasonOf(why: SessionEnd, session: Pick<Session, 'createdAt' | 'expiresAt'> | undefined): string {
  const { reasons } = t.session.over;
  if (why !== 'expired') return reasons[why];
  return session === undefined
    ? reasons.expired(undefined)
    : reasons.expired(Math.round((Date.parse(session.expiresAt) - Date.parse(session.createdAt)) / HOUR_MS));
}
