import './dialog.css';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Button, IconButton } from './button.tsx';
import { FormChange } from './field.tsx';
import { FormErrors } from './form-errors.tsx';
import type { IconName } from './icons.tsx';
import { ErrorPlace, InlineError } from './states.tsx';

interface DialogProps {
  /** Called on Escape, a click outside or the close button; not while `isLocked`. */
  onClose: () => void;
  title: string;
  children: ReactNode;
  /** Buttons, the primary one last. */
  footer?: ReactNode;
  /** The words of a button that closes it, in place of other buttons. */
  done?: string;
  /** Only a button in the dialog closes it: for a secret that is shown once, or while a request runs. */
  isLocked?: boolean;
  wide?: boolean;
  role?: 'dialog' | 'alertdialog';
}

/** What a failed action adds to a dialog. */
const MESSAGES = '.field-error, [role="alert"]';

/** An error in a form: a message or an invalid field. */
const ERRORS = '[role="alert"], [aria-invalid="true"]';

/** What stays free above a dialog that grows, in pixels. */
const FREE_ABOVE = 16;

/**
 * While a dialog shows an error, its buttons stay where they are, however long the error is. One with a form keeps the height from
 * before and scrolls. One that only asks grows upward, and scrolls when it reaches the top of the window. Both scroll to the first error
 * when it comes.
 */
function keepButtons(body: HTMLElement, modal: HTMLElement): () => void {
  let before = { height: 0, top: 0, bottom: 0 };
  let moved = 0;
  let hadError = false;
  const move = (by: number) => {
    moved = by;
    modal.style.translate = by === 0 ? '' : `0 ${by}px`;
  };
  const measure = () => {
    body.style.maxHeight = '';
    move(0);
    const { top, bottom } = modal.getBoundingClientRect();
    // Not `offsetHeight`, which is rounded.
    before = { height: body.getBoundingClientRect().height, top, bottom };
  };
  const keep = () => {
    const error = body.querySelector(MESSAGES);
    body.classList.toggle('steady', error !== null);
    if (!error) measure();
    else if (body.querySelector('form')) body.style.maxHeight = `${before.height}px`;
    else {
      body.style.maxHeight = `${before.height + Math.max(0, before.top - FREE_ABOVE)}px`;
      move(before.bottom - (modal.getBoundingClientRect().bottom - moved));
    }
    // `useErrorInView` scrolled the whole dialog. Now its body is what scrolls, and that place is lost.
    if (error && !hadError) (body.querySelector(ERRORS) ?? error).scrollIntoView({ block: 'nearest' });
    hadError = error !== null;
  };
  keep();
  // Before the next frame is drawn.
  const changes = new MutationObserver(keep);
  changes.observe(body, { childList: true, subtree: true });
  const size = new ResizeObserver(keep);
  size.observe(body);
  window.addEventListener('resize', measure);
  return () => {
    changes.disconnect();
    size.disconnect();
    window.removeEventListener('resize', measure);
  };
}

function DialogBody({ children }: Pick<DialogProps, 'children'>) {
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const modal = body.current?.closest<HTMLElement>('.modal');
    return body.current && modal ? keepButtons(body.current, modal) : undefined;
  }, []);
  return (
    <div className="dialog-body" ref={body}>
      <ErrorPlace value={true}>{children}</ErrorPlace>
    </div>
  );
}

/** A modal dialog, open while mounted: focus moves in, stays inside and returns. */
export function Dialog({
  onClose,
  title,
  children,
  done,
  isLocked = false,
  footer = done && (
    <Button autoFocus={!isLocked} kind="primary" onPress={onClose}>
      {done}
    </Button>
  ),
  wide = false,
  role = 'dialog',
}: DialogProps) {
  return (
    <ModalOverlay
      className="shade"
      isDismissable={!isLocked && role === 'dialog'}
      isKeyboardDismissDisabled={isLocked}
      isOpen
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
          <DialogBody>{children}</DialogBody>
          {footer && <footer className="dialog-footer">{footer}</footer>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** A request of a dialog, such as that of `useAction`. */
interface Work {
  error: unknown;
  isPending: boolean;
  mutate: () => void;
}

const NO_WORK: Work = { error: null, isPending: false, mutate: () => {} };

interface FormDialogProps extends Pick<DialogProps, 'onClose' | 'title' | 'children' | 'wide' | 'role'> {
  /** What the button does, such as "Save". */
  action: string;
  icon?: IconName;
  kind?: 'primary' | 'danger';
  /** The request that the form sends. */
  work?: Work;
  /** Default: sends it. */
  onSubmit?: () => void;
  isDisabled?: boolean;
  /** The form has changes: closing asks for confirmation first. Default: whether a field was changed. */
  isChanged?: boolean;
  /** More buttons beside Cancel and the submit button. */
  actions?: ReactNode;
  /** A button of `actions` is at work. */
  isBusy?: boolean;
}

/**
 * After a failed submit, scrolls to the first error and focuses it, unless the form already moved the focus to a field.
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

/**
 * A form in a dialog, open while mounted. It can't be closed by accident while it is submitting. An error about a field stands there,
 * any other one below the fields.
 */
export function FormDialog({
  action,
  icon,
  kind = 'primary',
  work: { error, isPending, mutate } = NO_WORK,
  onSubmit = () => mutate(),
  isDisabled = false,
  isChanged,
  actions,
  isBusy = false,
  onClose,
  children,
  ...props
}: FormDialogProps) {
  const id = useId();
  const [isLeaving, setLeaving] = useState(false);
  const [isTouched, setTouched] = useState(false);
  const touch = () => setTouched(true);
  const leave = () => ((isChanged ?? isTouched) ? setLeaving(true) : onClose());
  useErrorInView(id, isPending || isBusy);
  return (
    <Dialog
      {...props}
      footer={
        <>
          {actions}
          <Button isDisabled={isPending} onPress={leave}>
            Cancel
          </Button>
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
      onClose={leave}
    >
      <form
        className="dialog-form"
        id={id}
        onChange={touch}
        onSubmit={(event) => {
          event.preventDefault();
          // Enter in a field submits too.
          if (!isDisabled && !isPending) onSubmit();
        }}
      >
        <FormErrors error={error}>
          <FormChange value={touch}>{children}</FormChange>
          <InlineError error={error} />
        </FormErrors>
      </form>
      {isLeaving && (
        <Confirm
          action="Discard changes"
          cancel="Keep editing"
          onClose={() => setLeaving(false)}
          onConfirm={onClose}
          title="Discard your changes?"
        >
          <p>Your changes in this form are not saved.</p>
        </Confirm>
      )}
    </Dialog>
  );
}

interface ConfirmProps extends Pick<DialogProps, 'onClose' | 'title' | 'children'> {
  /** What the button does, such as "Remove connection". */
  action: string;
  /** The button that does nothing. */
  cancel?: string;
  kind?: 'primary' | 'danger';
  /** The request that is confirmed. */
  work?: Work;
  /** Default: sends it. */
  onConfirm?: () => void;
}

/** Asks for confirmation, open while mounted. It can't be closed by accident while the request runs, and shows why that failed. */
export function Confirm({
  action,
  cancel = 'Cancel',
  kind = 'danger',
  work: { error, isPending, mutate } = NO_WORK,
  onConfirm = () => mutate(),
  onClose,
  children,
  ...props
}: ConfirmProps) {
  return (
    <Dialog
      {...props}
      footer={
        <>
          <Button isDisabled={isPending} onPress={onClose}>
            {cancel}
          </Button>
          <Button isPending={isPending} kind={kind} onPress={onConfirm}>
            {action}
          </Button>
        </>
      }
      isLocked={isPending}
      onClose={onClose}
      role="alertdialog"
    >
      {children}
      <InlineError error={error} />
    </Dialog>
  );
}
