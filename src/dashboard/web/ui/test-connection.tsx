/** A button that tests a connection. */
import type { ReactElement, ReactNode } from 'react';
import { request, segment } from '../api/client.ts';
import { t } from '../texts/texts.ts';
import { showToast } from '../toasts.ts';
import { ActionButton } from './actions.tsx';

const { trouble: words } = t.common;

/** What a passed test may change. */
const READS = ['/manage/overview', '/manage/connections', '/manage/health', '/manage/watched-folders'];

export function TestConnection({ id, children }: { readonly id: string; readonly children: ReactNode }): ReactElement {
  return (
    <ActionButton
      run={() => request('POST', `/manage/connections/${segment(id)}/test`, {})}
      refreshes={[...READS, `/api/list/${segment(id)}`]}
      onDone={({ isOk, steps }) => {
        const failed = steps.find(({ status }) => status === 'failed');
        if (isOk) showToast(words.tested);
        else showToast(words.testFailed, 'bad', { code: failed?.code, text: failed?.error });
      }}
    >
      {children}
    </ActionButton>
  );
}
