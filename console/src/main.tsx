import './tokens.css';
import './base.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { I18nProvider } from 'react-aria-components/I18nProvider';
import { createRoot } from 'react-dom/client';
import { Announcer, notify } from './parts/announcer.tsx';
import { queryClient, router } from './router.tsx';
import { watchSession } from './shell/session-ended.ts';
import { startTheme } from './theme.ts';

startTheme();
watchSession(queryClient, () => {
  const { href, pathname } = router.state.location;
  if (pathname === '/sign-in' || pathname.startsWith('/link/')) return;
  notify('You are signed out: sign in again.');
  // Nothing of this session may stay for whoever signs in next.
  void router.navigate({ to: '/sign-in', search: { next: href } }).then(() => queryClient.clear());
});

const place = document.getElementById('root');
if (!place) throw new Error('index.html has no #root.');
createRoot(place).render(
  <StrictMode>
    <I18nProvider locale="en-GB">
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Announcer />
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
);
