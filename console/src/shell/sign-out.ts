import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ApiError, send } from '../api.ts';
import { notifyFailure } from '../parts/announcer.tsx';
import { forgetSession } from './session-ended.ts';

/** Ends the session, or all sessions of the person, and removes their data from the window. */
export function useSignOut({ everywhere = false } = {}) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () => (everywhere ? send('DELETE', '/sessions') : send('POST', '/sign-out')),
    onSuccess: async () => {
      await navigate({ to: '/sign-in', search: {} });
      forgetSession(queries);
    },
    // A 401 is handled by watchSession. The dialog that asks whether to sign out everywhere shows the error itself.
    onError: (error) => {
      if (!everywhere && !(error instanceof ApiError && error.status === 401))
        notifyFailure(`Could not sign you out: ${error.message}`);
    },
  });
}
