import './button.css';
import { type ReactNode, useEffect } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import { announce } from './announcer.tsx';
import { Icon, type IconName } from './icons.tsx';

/** `primary` once a view at most; `danger` for what can't be undone; `quiet` without a frame. */
export type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger';

interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'style' | 'children'> {
  kind?: ButtonKind;
  icon?: IconName;
  small?: boolean;
  children: ReactNode;
}

/**
 * A button; `isPending` keeps its place and focus while what it does is under way, and says so. Not by React Aria's own
 * `isPending`: that goes on naming the button to screen readers after its dialog is gone.
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
  /** What it does, to screen readers and as a title. */
  label: string;
}

/** A button that only has a picture. */
export function IconButton({ icon, label, ...props }: IconButtonProps) {
  return (
    <AriaButton {...props} aria-label={label} className="button quiet icon-button">
      <span className="icon-place" title={label}>
        <Icon name={icon} />
      </span>
    </AriaButton>
  );
}
