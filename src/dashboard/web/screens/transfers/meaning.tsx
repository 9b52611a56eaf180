/** What an error means, and what to do about it. */
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { segment, withQuery } from '../../api/client.ts';
import { language } from '../../preferences.ts';
import { t } from '../../texts/texts.ts';
import { LinkButton } from '../../ui/basics.tsx';
import { patiently } from '../../ui/patiently.ts';

type Meanings = Readonly<Record<string, readonly [meaning: string, remedy: string]>>;
const words = t.transfers;

/** Long, and needed here alone. */
async function loadMeanings(): Promise<Meanings> {
  const { errors } = await patiently(() =>
    language === 'de' ? import('../../texts/de/errors.ts') : import('../../texts/en/errors.ts'),
  );
  return errors;
}

/** What is changed on the page of the connection. */
const OF_CONNECTION = new Set(
  [
    'connection_inactive sessions_exhausted too_many_sessions pool_full acquire_timeout login_refused dns_failed unreachable',
    'connect_timeout command_timeout host_key_mismatch certificate_rejected protocol_error',
  ].flatMap((codes) => codes.split(' ')),
);
const OF_PLAN = new Set(['quota_exceeded', 'plan_required']);

interface Props {
  readonly code: string;
  readonly connectionId: string | null;
}

export function Meaning({ code, connectionId }: Props): ReactElement {
  const meanings = useQuery({ queryKey: ['meanings'], queryFn: loadMeanings, staleTime: Infinity });
  const [meaning, remedy] = meanings.data?.[code] ?? [];
  return (
    <>
      {meaning !== undefined && (
        <dl className="facts">
          <div>
            <dt>{words.means}</dt>
            <dd>{meaning}</dd>
          </div>
          <div>
            <dt>{words.remedy}</dt>
            <dd>{remedy}</dd>
          </div>
        </dl>
      )}
      <div className="row">
        {connectionId !== null && OF_CONNECTION.has(code) && (
          <LinkButton href={`/connections/${segment(connectionId)}`}>{words.openConnection}</LinkButton>
        )}
        {OF_PLAN.has(code) && <LinkButton href="/usage">{words.openUsage}</LinkButton>}
        <LinkButton href={withQuery('/transfers', { errorCode: code })}>{words.others}</LinkButton>
      </div>
    </>
  );
}
