import { useMutation } from '@tanstack/react-query';
import type { ShownOwnCheck } from '../../../../src/console-api/own-checks/own-check-schemas.ts';
import { send } from '../../api.ts';
import { notify } from '../../parts/announcer.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { InlineError } from '../../parts/states.tsx';
import { useRefreshOwnChecks } from './own-checks-query.ts';

/** Asks before an own check is removed. */
export function RemoveOwnCheck({ own, onClose }: { own: ShownOwnCheck; onClose: () => void }) {
  const refresh = useRefreshOwnChecks();
  const remove = useMutation({
    mutationFn: () => send('DELETE', `/own-checks/${own.id}`),
    async onSuccess() {
      await refresh();
      notify('Check removed. The next health check resolves its tickets.');
      onClose();
    },
  });
  return (
    <Confirm
      action="Remove check"
      isOpen
      isPending={remove.isPending}
      kind="danger"
      onClose={onClose}
      onConfirm={() => remove.mutate()}
      title="Remove this check?"
    >
      <p>
        <bdi>{own.title}</bdi> no longer runs, and the next health check of its connections resolves its
        tickets. What it measured stays.
      </p>
      <InlineError error={remove.error} />
    </Confirm>
  );
}
