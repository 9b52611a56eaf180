/** What to do about a failed step of a test, in the language of the page. The gateway's own text is English. */
import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { TestStep } from '../../api/types.ts';
import { language } from '../../preferences.ts';
import { patiently } from '../../ui/patiently.ts';

async function loadGerman() {
  return (await patiently(() => import('../../../../contract/de/advice.ts'))).advice;
}

export function Advice({ code, text }: { readonly code: TestStep['adviceCode']; readonly text: string }): ReactElement {
  const isEnglish = language === 'en';
  const { data } = useQuery({ queryKey: ['advice'], queryFn: loadGerman, staleTime: Infinity, enabled: !isEnglish });
  const known = code && data?.[code];
  return (
    <p className="advice" lang={isEnglish || known ? undefined : 'en'}>
      {known ?? text}
    </p>
  );
}
