import './field.css';
import type { ReactNode } from 'react';
import { Menu as AriaMenu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { Separator } from 'react-aria-components/Separator';
import { Icon, type IconName } from './icons.tsx';

export interface Action {
  /** Tells it from others with its label. */
  id?: string;
  label: string;
  icon?: IconName;
  danger?: boolean;
  /** The current choice of several. */
  isChosen?: boolean;
  /** A line above it. */
  startsGroup?: boolean;
  isDisabled?: boolean;
  onAction: () => void;
}

interface ActionMenuProps {
  label: string;
  trigger: ReactNode;
  actions: readonly Action[];
}

/** A menu of actions that a button opens; `trigger` is a Button or IconButton. */
export function ActionMenu({ label, trigger, actions }: ActionMenuProps) {
  return (
    <MenuTrigger>
      {trigger}
      <Popover className="popover" placement="bottom end">
        <AriaMenu aria-label={label} className="choices">
          {actions.flatMap((action) => [
            ...(action.startsGroup
              ? [<Separator className="choice-line" key={`above ${action.id ?? action.label}`} />]
              : []),
            <MenuItem
              className={action.danger ? 'choice danger-choice' : 'choice'}
              id={action.id ?? action.label}
              isDisabled={action.isDisabled ?? false}
              key={action.id ?? action.label}
              onAction={action.onAction}
              textValue={action.label}
            >
              {action.icon && <Icon name={action.icon} />}
              {action.label}
              {action.isChosen && (
                <>
                  <span className="hidden-text">, chosen</span>
                  <span className="choice-mark">
                    <Icon name="check" />
                  </span>
                </>
              )}
            </MenuItem>,
          ])}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}
