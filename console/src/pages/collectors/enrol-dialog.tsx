import type {
  Collector,
  IssuedToken,
  NewToken,
} from '../../../../src/console-api/collectors/collector-routes.ts';
import { send } from '../../api.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { useAction } from '../../parts/use-action.ts';
import { useDraft } from '../../parts/use-draft.ts';

interface EnrolDialogProps {
  /** The collector that gets a new key; null for a new collector. */
  known: Collector | null;
  onClose: () => void;
  onIssued: (issued: IssuedToken) => void;
}

/** Makes a token with which a collector enrols itself. */
export function EnrolDialog({ known, onClose, onIssued }: EnrolDialogProps) {
  const { draft, bind } = useDraft({ name: known?.name ?? '' });
  const issue = useAction({
    request: () => send<IssuedToken>('POST', '/collectors', { name: draft.name.trim() } satisfies NewToken),
    onDone: onIssued,
  });
  return (
    <FormDialog
      action="Make token"
      onClose={onClose}
      title={known ? 'Make a new token' : 'Enrol a collector'}
      work={issue}
    >
      {known ? (
        <p>
          The token gives <bdi>{known.name}</bdi> a new key. Its old key is valid until the token is used.
        </p>
      ) : (
        <TextField
          {...bind('name')}
          autoFocus
          description="Where it runs, such as “frankfurt”. Start the collector with the same name."
          isRequired
          label="Name"
          maxLength={200}
        />
      )}
    </FormDialog>
  );
}
