import type { Destination } from '../../../../src/console-api/notifications/destination-schemas.ts';
import { GROUPING_CHANNELS, SIGNED_CHANNELS } from '../../../../src/vocabulary/channels.ts';
import type { Action } from '../../parts/menu.tsx';

/** What can be done with a destination. Each opens a dialog. */
export type DestinationStep = 'test' | 'digest' | 'change' | 'rotate' | 'enable' | 'disable' | 'remove';

export type DestinationAction = (step: DestinationStep, destination: Destination) => void;

/** The actions that its state and channel allow. */
export function actionsOf(destination: Destination, act: DestinationAction): Action[] {
  const { state, channel } = destination;
  const steps: (Omit<Action, 'id' | 'onAction'> & { id: DestinationStep; isOffered?: boolean })[] = [
    { id: 'test', label: 'Send test', icon: 'bell', isOffered: state === 'enabled' },
    {
      id: 'digest',
      label: 'Send digest now',
      icon: 'activity',
      isOffered: state === 'enabled' && GROUPING_CHANNELS.includes(channel),
    },
    { id: 'enable', label: 'Enable…', icon: 'check', isOffered: state !== 'enabled' },
    { id: 'change', label: 'Change…', icon: 'pen' },
    { id: 'rotate', label: 'Rotate secret…', icon: 'again', isOffered: SIGNED_CHANNELS.includes(channel) },
    { id: 'disable', label: 'Disable…', icon: 'silent', isOffered: state === 'enabled' },
    { id: 'remove', label: 'Remove…', icon: 'bin', danger: true, startsGroup: true },
  ];
  return steps
    .filter(({ isOffered = true }) => isOffered)
    .map(({ isOffered: _, ...step }) => ({ ...step, onAction: () => act(step.id, destination) }));
}
