import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queries } from './api/hooks.ts';
import { App } from './app.tsx';
import { applyTheme } from './preferences.ts';
import { Toasts } from './ui/toast.tsx';
import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/shell.css';
import './styles/screens.css';

applyTheme();
const root = document.getElementById('app');
if (root === null) throw new Error('the page has no #app');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
      <Toasts />
    </QueryClientProvider>
  </StrictMode>,
);
