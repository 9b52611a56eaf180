/** What an error means, and what to do about it. */
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { withQuery } from '../../api/client.ts';
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

export function Meaning({ code }: { readonly code: string }): ReactElement {
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
        <LinkButton href={withQuery('/transfers', { errorCode: code })}>{words.others}</LinkButton>
      </div>
    </>
  );
}
