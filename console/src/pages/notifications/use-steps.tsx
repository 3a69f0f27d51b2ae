import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useState } from 'react';
import type { TestAnswer } from '../../../../src/console-api/notifications/destination-routes.ts';
import type {
  Destination,
  Destinations,
} from '../../../../src/console-api/notifications/destination-schemas.ts';
import { send } from '../../api.ts';
import { useRestoredFocus } from '../../parts/restore-focus.ts';
import type { DestinationAction, DestinationStep } from './destination-actions.ts';
import { DestinationForm } from './form/destination-form.tsx';
import { SigningSecretDialog } from './signing-secret-dialog.tsx';
import { DisableDialog, EnableDialog, RemoveDialog, RotateDialog, TestDialog } from './step-dialogs.tsx';
import type { SentTest } from './test-answer.tsx';

/** Sends a destination a test, or its digest now; the answer comes within 20 seconds. */
export function useTest(what: 'test' | 'send-digest' = 'test'): SentTest {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: number) => send<TestAnswer>('POST', `/destinations/${id}/${what}`),
    gcTime: 0,
    onSettled: () => queries.invalidateQueries({ queryKey: ['destinations'] }),
  });
}

/** The dialogs of a destination's actions, for the list and for its page. */
export function useSteps(
  known: Destinations | undefined,
  onRemoved: () => void = () => undefined,
): { act: DestinationAction; dialogs: ReactNode } {
  const [asked, setAsked] = useState<{ step: DestinationStep; of: Destination } | null>(null);
  const queries = useQueryClient();
  const test = useTest();
  const digest = useTest('send-digest');
  const [secret, setSecret] = useState<string | null>(null);
  const { mutate } = test;
  const { mutate: sendDigest } = digest;
  const close = () => setAsked(null);
  useRestoredFocus(asked !== null || secret !== null);
  const act = useCallback<DestinationAction>(
    (step, of) => {
      setAsked({ step, of });
      if (step === 'test') mutate(of.id);
      if (step === 'digest') sendDigest(of.id);
    },
    [mutate, sendDigest],
  );
  if (secret !== null) {
    const stored = (
      <SigningSecretDialog onDone={() => setSecret(null)} secret={secret} title="New signing secret" />
    );
    return { act, dialogs: stored };
  }
  if (!asked) return { act, dialogs: null };
  const of = { destination: asked.of, onClose: close };
  const dialogs = {
    test: () => <TestDialog {...of} test={test} what="test" />,
    digest: () => <TestDialog {...of} test={digest} what="digest" />,
    change: () => (
      <DestinationForm
        {...of}
        channel={asked.of.channel}
        known={known}
        onStored={({ signing_secret }) => {
          close();
          setSecret(signing_secret);
          void queries.invalidateQueries({ queryKey: ['destinations'] });
        }}
      />
    ),
    rotate: () => <RotateDialog {...of} />,
    enable: () => <EnableDialog {...of} />,
    disable: () => <DisableDialog {...of} />,
    remove: () => (
      <RemoveDialog
        {...of}
        onRemoved={() => {
          close();
          onRemoved();
        }}
      />
    ),
  };
  return { act, dialogs: dialogs[asked.step]() };
}
