import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ApiError, send } from '../api.ts';
import { notify } from '../parts/announcer.tsx';
import { forgetSession } from './session-ended.ts';

/** Ends the session; nothing of it stays in the window. */
export function useSignOut() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () => send('POST', '/sign-out'),
    onSuccess: async () => {
      await navigate({ to: '/sign-in', search: {} });
      forgetSession(queries);
    },
    // A session that is over already was signed out by whoever watches for that.
    onError: (error) => {
      if (!(error instanceof ApiError && error.status === 401))
        notify(`You are still signed in: ${error.message}`);
    },
  });
}
