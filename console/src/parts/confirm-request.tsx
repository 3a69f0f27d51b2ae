import type { ComponentProps } from 'react';
import { Confirm } from './dialog.tsx';
import { useAction } from './use-action.ts';

interface ConfirmRequestProps
  extends Pick<ComponentProps<typeof Confirm>, 'action' | 'title' | 'onClose' | 'children'> {
  request: () => Promise<unknown>;
  /** The first parts of the keys of queries that show what it changes. */
  renews: readonly string[];
  /** Said when it is done. */
  done: string;
}

/** Asks for confirmation, sends a request and closes. Open while mounted. */
export function ConfirmRequest({ request, renews, done, ...props }: ConfirmRequestProps) {
  const work = useAction({ request, renews, done, onDone: props.onClose });
  return <Confirm {...props} work={work} />;
}
