import './fonts.css';
import './tokens.css';
import './base.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { I18nProvider } from 'react-aria-components/I18nProvider';
import { createRoot } from 'react-dom/client';
import { PAGE_PATHS } from '../../src/vocabulary/page-paths.ts';
import { Announcer, notifyFailure } from './parts/announcer.tsx';
import { keepFocusWhilePressed } from './parts/keep-focus.ts';
import { queryClient, router } from './router.tsx';
import { profileQuery } from './shell/profile.ts';
import { forgetSession, watchSession } from './shell/session-ended.ts';
import { startTheme } from './theme.ts';
import { startTimeZone } from './time-zone.ts';

startTheme();
startTimeZone();
keepFocusWhilePressed();
watchSession(queryClient, () => {
  const { href, pathname } = router.state.location;
  if (pathname === PAGE_PATHS.signIn || /^\/(?:link|email)\//.test(pathname)) return;
  // The router handles visitors who have not signed in yet.
  if (queryClient.getQueryData(profileQuery.queryKey) === undefined) return;
  notifyFailure('You are signed out. Sign in again.');
  void router
    .navigate({ to: PAGE_PATHS.signIn, search: { next: href } })
    .then(() => forgetSession(queryClient));
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
