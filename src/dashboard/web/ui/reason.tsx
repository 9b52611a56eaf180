/** Why something failed, in the language of the page. The server's own words, which are English, are the detail. */
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { ErrorTexts } from '../../../contract/errors.ts';
import type { Language } from '../../../contract/languages.ts';
import type { Cause } from '../api/types.ts';
import { language } from '../preferences.ts';
import { t } from '../texts/texts.ts';
import { firstScreen } from './first-screen.ts';
import { patiently } from './patiently.ts';

type Meanings = Readonly<Record<string, ErrorTexts | undefined>>;

const MEANINGS: Readonly<Record<Language, () => Promise<{ readonly errors: Meanings }>>> = {
  en: () => import('../../../contract/derived/error-texts.ts'),
  de: () => import('../../../contract/de/errors.ts'),
};

/** Loaded on demand, and after the first screen: the texts are long. */
async function loadMeanings(): Promise<Meanings> {
  await firstScreen;
  return (await patiently(MEANINGS[language])).errors;
}

/** The texts of an error code; undefined until they are loaded, and for a code that the catalogue lacks. */
export function useMeaning(code: Cause['code'], isNeeded = true) {
  const enabled = isNeeded && Boolean(code);
  const { data, isLoading } = useQuery({
    queryKey: ['meanings'],
    queryFn: loadMeanings,
    staleTime: Infinity,
    enabled,
    meta: { isOfFirstScreen: false },
  });
  return { isLoading, known: enabled ? data?.[code ?? ''] : undefined };
}

/** @param props.isShort in a row: without the remedy, in one line */
export function Reason({ code, text, isShort = false }: Cause & { readonly isShort?: boolean }): ReactElement {
  const { known, isLoading } = useMeaning(code, language !== 'en');
  if (isLoading) return <>{t.common.loading}</>;
  if (known === undefined) return <span lang={code === undefined ? undefined : 'en'}>{text}</span>;
  return (
    <>
      {isShort ? known.meaning : `${known.meaning} ${known.remedy}`}{' '}
      <span lang="en" className={isShort ? 'muted' : 'server-words muted small'}>
        {text}
      </span>
    </>
  );
}
