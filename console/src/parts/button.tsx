import './button.css';
import { type ReactNode, useEffect } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import { announce } from './announcer.tsx';
import { Icon, type IconName } from './icons.tsx';

/** `primary` at most once per view; `danger` for actions that can't be undone; `quiet` has no frame. */
export type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger';

interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'style' | 'children'> {
  kind?: ButtonKind;
  icon?: IconName;
  small?: boolean;
  children: ReactNode;
}

/**
 * A button. While `isPending`, it keeps its place and focus and announces the progress. It does not use React Aria's own
 * `isPending`, which keeps announcing the button after its dialog has closed.
 */
export function Button({
  kind = 'plain',
  icon,
  small = false,
  isPending = false,
  children,
  ...props
}: ButtonProps) {
  useEffect(() => {
    if (isPending) announce('In progress');
  }, [isPending]);
  const { onPress: _onPress, ...quiet } = props;
  return (
    <AriaButton
      {...(isPending ? { ...quiet, type: 'button', 'aria-disabled': true } : props)}
      className={`button ${kind} ${small ? 'small-button' : ''}`}
    >
      {icon && <Icon name={icon} />}
      <span>{children}</span>
      {isPending && <span aria-hidden="true" className="spinner" />}
    </AriaButton>
  );
}

interface IconButtonProps extends Omit<AriaButtonProps, 'className' | 'style' | 'children' | 'aria-label'> {
  icon: IconName;
  /** What the button does: its accessible name and its tooltip. */
  label: string;
}

/** A button with an icon only. */
export function IconButton({ icon, label, ...props }: IconButtonProps) {
  return (
    <AriaButton {...props} aria-label={label} className="button quiet icon-button">
      <span className="icon-place" title={label}>
        <Icon name={icon} />
      </span>
    </AriaButton>
  );
}
