import './palette.css';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icons.tsx';
import type { Command } from './command-groups.ts';
import { useCommandGroups } from './use-command-groups.ts';

/**
 * The command palette: pages, actions, connections and tickets, found by what is typed. A combobox whose list is always open:
 * the focus stays in the field, and the arrow keys move through the list (ARIA Authoring Practices, combobox).
 */
export function Palette({ onClose, onShortcuts }: { onClose: () => void; onShortcuts: () => void }) {
  const id = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const { groups, isSearching } = useCommandGroups(text, onShortcuts);
  const commands = groups.flatMap((group) => group.commands);
  const active = commands[Math.min(at, commands.length - 1)];
  const optionId = (command: Command) => `${id} ${command.id}`.replaceAll(' ', '-');
  useActiveInView(active && optionId(active));
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter ends the composition of an input method.
    if (event.nativeEvent.isComposing) return;
    const last = commands.length - 1;
    const place = Math.min(at, last);
    const steps: Record<string, number> = {
      ArrowDown: place >= last ? 0 : place + 1,
      ArrowUp: place <= 0 ? last : place - 1,
      PageDown: Math.min(place + 8, last),
      PageUp: Math.max(place - 8, 0),
    };
    const next = steps[event.key];
    if (event.key === 'Enter') run(active);
    else if (next !== undefined) setAt(Math.max(0, next));
    else return;
    event.preventDefault();
  };
  return (
    <Dialog onClose={onClose} title="Go to anything">
      <div className="palette">
        <div className="search palette-field">
          <Icon name="search" />
          <input
            aria-activedescendant={active && optionId(active)}
            aria-autocomplete="list"
            aria-controls={`${id}-list`}
            aria-expanded="true"
            aria-label="Page, connection, ticket or action"
            autoComplete="off"
            autoFocus
            className="field-box"
            maxLength={200}
            onChange={({ target }) => {
              setText(target.value);
              setAt(0);
            }}
            onKeyDown={onKeyDown}
            placeholder="Page, connection, ticket or action"
            role="combobox"
            spellCheck={false}
            type="text"
            value={text}
          />
        </div>
        <div aria-label="Commands" className="palette-list" id={`${id}-list`} role="listbox" tabIndex={-1}>
          {groups.map(({ label, commands: own }) => (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset can't group options
            <div aria-label={label} className="palette-group" key={label} role="group">
              <div aria-hidden="true" className="palette-label">
                {label}
              </div>
              {own.map((command) => (
                <Option
                  command={command}
                  id={optionId(command)}
                  isActive={command === active}
                  key={command.id}
                  onRun={run}
                />
              ))}
            </div>
          ))}
        </div>
        <p className="quiet small" role="status">
          {found(commands.length, isSearching)}
        </p>
      </div>
    </Dialog>
  );
}

function found(count: number, isSearching: boolean): string {
  if (isSearching) return 'Searching…';
  if (count === 0) return 'Nothing matches.';
  return count === 1 ? 'One result' : `${count} results`;
}

interface OptionProps {
  command: Command;
  id: string;
  isActive: boolean;
  onRun: (command: Command) => void;
}

function Option({ command, id, isActive, onRun }: OptionProps) {
  const { label, detail, icon } = command;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus
    // biome-ignore lint/a11y/useFocusableInteractive: as above
    <div
      aria-selected={isActive}
      className="palette-option"
      id={id}
      onClick={() => onRun(command)}
      onMouseDown={(event) => event.preventDefault()}
      role="option"
    >
      <Icon name={icon} />
      <span className="palette-words">
        <bdi>{label}</bdi>
        {detail && <bdi className="quiet small">{detail}</bdi>}
      </span>
    </div>
  );
}

/** Scrolls to the active option. */
function useActiveInView(id: string | undefined): void {
  const last = useRef(id);
  useEffect(() => {
    if (id !== undefined && id !== last.current) {
      document.getElementById(id)?.scrollIntoView({ block: 'nearest' });
    }
    last.current = id;
  }, [id]);
}
