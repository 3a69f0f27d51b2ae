import { Loaded } from '../../parts/states.tsx';
import { useProfile } from '../../shell/profile.ts';
import { ChooseDialog } from './choose-dialog.tsx';
import { usePeople } from './tickets-query.ts';

interface AssignDialogProps {
  title: string;
  /** Of all tickets; undefined = they differ. */
  assignee: number | null | undefined;
  /** Null = nobody. `name` is how a notice says it. */
  onAssign: (id: number | null, name: string) => void;
  onClose: () => void;
}

const NOBODY = 'nobody';

/** Asks whom tickets are assigned to: oneself first. */
export function AssignDialog({ title, assignee, onAssign, onClose }: AssignDialogProps) {
  const people = usePeople();
  const { member } = useProfile();
  return (
    <Loaded query={people} skeleton={null}>
      {({ data }) => {
        const isMe = ({ id }: { id: number }) => id === member.id;
        const sorted = [...data.filter(isMe), ...data.filter((person) => !isMe(person))];
        return (
          <ChooseDialog
            choices={[
              ...sorted.map(({ id, name }) => ({
                id: String(id),
                label: id === member.id ? `${name} (you)` : name,
                isChosen: id === assignee,
              })),
              { id: NOBODY, label: 'Nobody', isChosen: assignee === null },
            ]}
            onChoose={(id) =>
              onAssign(
                id === NOBODY ? null : Number(id),
                data.find((person) => String(person.id) === id)?.name ?? NOBODY,
              )
            }
            onClose={onClose}
            title={title}
          />
        );
      }}
    </Loaded>
  );
}
