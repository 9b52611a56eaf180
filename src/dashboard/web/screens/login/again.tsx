/** The login over a page whose session has ended. Typed text on the page is kept. */
import type { ReactElement } from 'react';
import { forgetSession } from '../../api/hooks.ts';
import { useSessionEnd } from '../../api/session-end.ts';
import type { SignedIn } from '../../api/types.ts';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/basics.tsx';
import { Overlay } from '../../ui/overlay.tsx';
import { LoginForm } from './form.tsx';
import { reasonOf } from './reason.ts';

export function LoginAgain({ account, session }: Pick<SignedIn, 'account' | 'session'>): ReactElement | null {
  const ended = useSessionEnd();
  if (ended === undefined) return null;
  return (
    <Overlay
      title={t.session.over.title}
      description={`${reasonOf(ended, session ?? undefined)} ${t.session.over.kept}`}
      backdrop="backdrop veil"
      className="dialog small login-again"
    >
      <LoginForm
        className="stack"
        email={account.email}
        foot={
          <Button variant="quiet" onClick={forgetSession}>
            {t.session.over.another}
          </Button>
        }
      />
    </Overlay>
  );
}
