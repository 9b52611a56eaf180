/** The login screen. */
import { useEffect, type ReactElement } from 'react';
import { useSessionEnd } from '../api/session-end.ts';
import icon from '../icon.svg';
import { t } from '../texts/texts.ts';
import { Notice } from '../ui/basics.tsx';
import { firstScreenIsRead } from '../ui/first-screen.ts';
import { LoginForm } from './login/form.tsx';
import { reasonOf } from './login/reason.ts';

export function Login(): ReactElement {
  const ended = useSessionEnd();
  useEffect(() => {
    document.title = t.login.documentTitle;
    firstScreenIsRead();
  }, []);
  return (
    <main className="login">
      <LoginForm className="login-card" foot={<p className="hint">{t.login.whichPassword}</p>}>
        <div className="row">
          <img src={icon} width={32} height={32} alt="" />
          <h1>{t.common.product}</h1>
        </div>
        {ended !== undefined && <Notice title={t.session.over.title}>{reasonOf(ended, undefined)}</Notice>}
      </LoginForm>
    </main>
  );
}
