import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Text } from 'react-aria-components/Text';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icons.tsx';

interface Choice {
  id: string;
  label: string;
  /** The present choice. */
  isChosen?: boolean;
}

interface ChooseDialogProps {
  title: string;
  choices: readonly Choice[];
  onChoose: (id: string) => void;
  onClose: () => void;
}

/** Asks for one of several choices: arrows or first letters go to one, Enter takes it. */
export function ChooseDialog({ title, choices, onChoose, onClose }: ChooseDialogProps) {
  return (
    <Dialog onClose={onClose} title={title}>
      <ListBox
        aria-label={title}
        autoFocus="first"
        className="choices choose-list"
        items={choices}
        onAction={(id) => onChoose(String(id))}
        selectionMode="none"
      >
        {({ id, label, isChosen = false }) => (
          <ListBoxItem className="choice" id={id} textValue={label}>
            <Text slot="label">
              <bdi>{label}</bdi>
            </Text>
            {isChosen && (
              <>
                <span className="hidden-text">, now</span>
                <span className="choice-mark">
                  <Icon name="check" />
                </span>
              </>
            )}
          </ListBoxItem>
        )}
      </ListBox>
    </Dialog>
  );
}
