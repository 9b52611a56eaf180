/** The meaning of an error and its remedy. */
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { FIXED_AT_CONNECTION, FIXED_BY_PLAN } from '../../../../contract/derived/error-lists.ts';
import type { ErrorTexts } from '../../../../contract/errors.ts';
import { segment, withQuery } from '../../api/client.ts';
import { language } from '../../preferences.ts';
import { t } from '../../texts/texts.ts';
import { Facts, LinkButton } from '../../ui/basics.tsx';
import { patiently } from '../../ui/patiently.ts';

type Meanings = Readonly<Record<string, ErrorTexts | undefined>>;
const words = t.transfers;

/** Loaded on demand: the texts are long, and only this screen uses them. */
async function loadMeanings(): Promise<Meanings> {
  const { errors } = await patiently(() =>
    language === 'de'
      ? import('../../../../contract/de/errors.ts')
      : import('../../../../contract/derived/error-texts.ts'),
  );
  return errors;
}

const OF_CONNECTION: ReadonlySet<string> = new Set(FIXED_AT_CONNECTION);
const OF_PLAN: ReadonlySet<string> = new Set(FIXED_BY_PLAN);

interface Props {
  readonly code: string;
  readonly connectionId: string | null;
}

export function Meaning({ code, connectionId }: Props): ReactElement {
  const meanings = useQuery({ queryKey: ['meanings'], queryFn: loadMeanings, staleTime: Infinity });
  const { meaning, remedy } = meanings.data?.[code] ?? {};
  return (
    <>
      {meaning !== undefined && <Facts of={{ [words.means]: meaning, [words.remedy]: remedy }} />}
      <div className="row">
        {connectionId !== null && OF_CONNECTION.has(code) && (
          <LinkButton href={`/connections/${segment(connectionId)}`}>{words.openConnection}</LinkButton>
        )}
        {OF_PLAN.has(code) && <LinkButton href="/usage">{t.words.seeUsage}</LinkButton>}
        <LinkButton href={withQuery('/transfers', { errorCode: code })}>{words.others}</LinkButton>
      </div>
    </>
  );
}
