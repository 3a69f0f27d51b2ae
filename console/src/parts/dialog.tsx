import './dialog.css';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Button, IconButton } from './button.tsx';
import type { IconName } from './icons.tsx';

interface DialogProps {
  isOpen: boolean;
  /** Asked for by Escape, a click beside it, the cross; not called while `isLocked`. */
  onClose: () => void;
  title: string;
  children: ReactNode;
  /** Buttons, the one that goes on last. */
  footer?: ReactNode;
  /** Nothing but a button of its own closes it: while something is shown once, or under way. */
  isLocked?: boolean;
  wide?: boolean;
  role?: 'dialog' | 'alertdialog';
}

/** A dialog over the page; focus goes in, stays there, and comes back. */
export function Dialog({
  isOpen,
  onClose,
  title,
  children,
  footer,
  isLocked = false,
  wide = false,
  role = 'dialog',
}: DialogProps) {
  return (
    <ModalOverlay
      className="shade"
      isDismissable={!isLocked && role === 'dialog'}
      isKeyboardDismissDisabled={isLocked}
      isOpen={isOpen}
      onOpenChange={(open) => !open && !isLocked && onClose()}
    >
      <Modal className={wide ? 'modal wide-modal' : 'modal'}>
        <AriaDialog className="dialog" role={role}>
          <header className="dialog-header">
            <Heading className="dialog-title" slot="title">
              {title}
            </Heading>
            {!isLocked && <IconButton icon="close" label="Close" onPress={onClose} />}
          </header>
          <div className="dialog-body">{children}</div>
          {footer && <footer className="dialog-footer">{footer}</footer>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface FormDialogProps extends Pick<DialogProps, 'onClose' | 'title' | 'children' | 'wide' | 'role'> {
  /** What the button does, such as "Save". */
  action: string;
  icon?: IconName;
  kind?: 'primary' | 'danger';
  onSubmit: () => void;
  isPending: boolean;
  isDisabled?: boolean;
  /** Something was entered that closing would drop: it is asked first. */
  isChanged?: boolean;
  /** Buttons beside those that close and send it. */
  actions?: ReactNode;
  /** Something else than sending it is under way, by a button of `actions`. */
  isBusy?: boolean;
}

/** What a form says is wrong: a message, or a field. */
const ERRORS = '[role="alert"], [aria-invalid="true"]';

/**
 * When what was sent has failed, the first thing that tells why comes into view, and gets the focus unless the form moved that to a
 * field by itself.
 */
function useErrorInView(formId: string, isBusy: boolean): void {
  const sentFrom = useRef<Element | null>(null);
  useEffect(() => {
    if (isBusy) {
      sentFrom.current = document.activeElement;
      return;
    }
    if (!sentFrom.current) return;
    const form = document.getElementById(formId);
    const { activeElement } = document;
    const isMoved = activeElement !== sentFrom.current && form?.contains(activeElement) === true;
    sentFrom.current = null;
    const trouble = form?.querySelector<HTMLElement>(ERRORS);
    if (!isMoved) trouble?.focus({ preventScroll: true });
    trouble?.scrollIntoView({ block: 'center' });
  }, [formId, isBusy]);
}

/** A form in a dialog of its own, open as long as it is there; nothing closes it by accident while it is sent. */
export function FormDialog({
  action,
  icon,
  kind = 'primary',
  onSubmit,
  isPending,
  isDisabled = false,
  isChanged = false,
  actions,
  isBusy = false,
  onClose,
  children,
  ...props
}: FormDialogProps) {
  const id = useId();
  const [isLeaving, setLeaving] = useState(false);
  const leave = () => (isChanged ? setLeaving(true) : onClose());
  useErrorInView(id, isPending || isBusy);
  return (
    <Dialog
      {...props}
      footer={
        <>
          {actions}
          <Button onPress={leave}>Cancel</Button>
          <Button
            {...(icon && { icon })}
            form={id}
            isDisabled={isDisabled}
            isPending={isPending}
            kind={kind}
            type="submit"
          >
            {action}
          </Button>
        </>
      }
      isLocked={isPending}
      isOpen
      onClose={leave}
    >
      <form
        className="dialog-form"
        id={id}
        onSubmit={(event) => {
          event.preventDefault();
          // Enter in a field sends it too.
          if (!isDisabled && !isPending) onSubmit();
        }}
      >
        {children}
      </form>
      <Confirm
        action="Discard changes"
        cancel="Keep editing"
        isOpen={isLeaving}
        isPending={false}
        onClose={() => setLeaving(false)}
        onConfirm={onClose}
        title="Discard your changes?"
      >
        <p>Your changes in this form are not saved.</p>
      </Confirm>
    </Dialog>
  );
}

interface ConfirmProps extends Pick<DialogProps, 'isOpen' | 'onClose' | 'title' | 'children'> {
  /** What the button does, such as "Remove connection". */
  action: string;
  /** The button that does nothing. */
  cancel?: string;
  kind?: 'primary' | 'danger';
  onConfirm: () => void;
  isPending: boolean;
}

/** Asks before something of consequence; nothing closes it by accident while that is under way. */
export function Confirm({
  action,
  cancel = 'Cancel',
  kind = 'danger',
  onConfirm,
  isPending,
  onClose,
  ...props
}: ConfirmProps) {
  return (
    <Dialog
      {...props}
      footer={
        <>
          <Button onPress={onClose}>{cancel}</Button>
          <Button isPending={isPending} kind={kind} onPress={onConfirm}>
            {action}
          </Button>
        </>
      }
      isLocked={isPending}
      onClose={onClose}
      role="alertdialog"
    />
  );
}
