/** The login, or the desk of the logged-in user. */
import { QueryClientProvider } from '@tanstack/react-query';
import { type ReactElement, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { queries, useSession } from './api/hooks.ts';
import { Desk } from './desk.tsx';
import { Login } from './screens/login.tsx';
import { AwayBanner } from './ui/away-banner.tsx';
import { Pending } from './ui/basics.tsx';
import { Boundary } from './ui/part.tsx';
import { Toasts } from './ui/toast.tsx';
import { guardedNav } from './ui/unsaved.ts';

export function show(root: HTMLElement): void {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <AwayBanner />
        <Boundary>
          <Router aroundNav={guardedNav}>
            <App />
          </Router>
        </Boundary>
        <Toasts />
      </QueryClientProvider>
    </StrictMode>,
  );
}

function App(): ReactElement {
  const session = useSession();
  if (session.data === undefined) {
    return (
      <main className="login">
        <div className="login-card">
          <Pending error={session.error} onRetry={() => void session.refetch()} />
        </div>
      </main>
    );
  }
  return session.data === null ? <Login /> : <Desk account={session.data.account} session={session.data.session} />;
}
