import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ApiError, send } from '../api.ts';
import { notify } from '../parts/announcer.tsx';
import { forgetSession } from './session-ended.ts';

/** Ends the session, or all sessions of the person; nothing of it stays in the window. */
export function useSignOut({ everywhere = false } = {}) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () => (everywhere ? send('DELETE', '/sessions') : send('POST', '/sign-out')),
    onSuccess: async () => {
      await navigate({ to: '/sign-in', search: {} });
      forgetSession(queries);
    },
    // A session that is over already was signed out by whoever watches for that.
    onError: (error) => {
      if (!(error instanceof ApiError && error.status === 401))
        notify(`Could not sign you out: ${error.message}`);
    },
  });
}
