/** The login over a page whose session has ended. Typed text on the page is kept. */
import * as Ariakit from '@ariakit/react';
import type { ReactElement } from 'react';
import { forgetSession } from '../../api/hooks.ts';
import { useSessionEnd } from '../../api/session-end.ts';
import type { SignedIn } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/basics.tsx';
import { LoginForm } from './form.tsx';
import { reasonOf } from './reason.ts';

export function LoginAgain({ account, session }: Pick<SignedIn, 'account' | 'session'>): ReactElement | null {
  const ended = useSessionEnd();
  if (ended === undefined) return null;
  return (
    <Ariakit.Dialog
      open
      hideOnEscape={false}
      hideOnInteractOutside={false}
      backdrop={<div className="backdrop veil" />}
      className="dialog small login-again"
    >
      <header className="dialog-head">
        <Ariakit.DialogHeading render={<h2 />}>{t.session.over.title}</Ariakit.DialogHeading>
      </header>
      <LoginForm
        className="stack"
        email={account.email}
        foot={
          <Button variant="quiet" onClick={forgetSession}>
            {t.session.over.another}
          </Button>
        }
      >
        <Ariakit.DialogDescription>
          {reasonOf(ended, session ?? undefined)} {t.session.over.kept}
        </Ariakit.DialogDescription>
      </LoginForm>
    </Ariakit.Dialog>
  );
}
