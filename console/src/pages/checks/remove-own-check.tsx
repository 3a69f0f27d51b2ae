import type { ShownOwnCheck } from '../../../../src/console-api/own-checks/own-check-schemas.ts';
import { send } from '../../api.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { useAction } from '../../parts/use-action.ts';

/** Asks before an own check is removed. */
export function RemoveOwnCheck({ own, onClose }: { own: ShownOwnCheck; onClose: () => void }) {
  const remove = useAction({
    request: () => send('DELETE', `/own-checks/${own.id}`),
    renews: ['own-checks'],
    done: 'Check removed. The next health check resolves its tickets.',
    onDone: onClose,
  });
  return (
    <Confirm action="Remove check" onClose={onClose} title="Remove this check?" work={remove}>
      <p>
        <bdi>{own.title}</bdi> no longer runs, and the next health check of its connections resolves its
        tickets. What it measured stays.
      </p>
    </Confirm>
  );
}
