import './states.css';
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useState, useSyncExternalStore } from 'react';
import { ApiError, OfflineError } from '../api.ts';
import { useStandingNotice } from './announcer.tsx';
import { Button } from './button.tsx';
import { CopyButton } from './copy.tsx';
import { useHasField } from './form-errors.tsx';
import { Icon, type IconName } from './icons.tsx';
import { clockNow, clockTime, useNow } from './time.tsx';

/** Placeholder rows while a list loads; announced to screen readers once. */
export function SkeletonRows({ rows = 8 }: { rows?: number }) {
  return (
    <div className="skeleton-rows" role="status">
      <span className="hidden-text">Loading</span>
      {Array.from({ length: rows }, (_, row) => row).map((row) => (
        <div aria-hidden="true" className="skeleton-row" key={row}>
          <span className="skeleton" />
          <span className="skeleton" />
          <span className="skeleton" />
        </div>
      ))}
    </div>
  );
}

interface MessageProps {
  icon?: IconName;
  title: string;
  children?: ReactNode;
  /** What can be done about it. */
  actions?: ReactNode;
}

/** Shown instead of content: empty, nothing found, or not allowed. */
export function Message({ icon, title, children, actions }: MessageProps) {
  return (
    <div className="message">
      {icon && (
        <span className="message-icon">
          <Icon name={icon} size={20} />
        </span>
      )}
      <p className="message-title">{title}</p>
      {children && <div className="message-text">{children}</div>}
      {actions && <div className="message-actions">{actions}</div>}
    </div>
  );
}

/** What a member whose roles lack a permission sees. */
export function NoPermission({ permission }: { permission?: string }) {
  return (
    <Message icon="lock" title="Your roles don’t allow this">
      {permission && (
        <>
          You need the permission <code>{permission}</code>.{' '}
        </>
      )}
      An owner or administrator can change your roles on the team page.
    </Message>
  );
}

/** Counts down `seconds` from the first render. */
function useSecondsLeft(seconds: number | null): number {
  const [until] = useState(() => clockNow() + (seconds ?? 0) * 1000);
  return Math.max(0, Math.ceil((until - useNow(1_000)) / 1000));
}

/** Shows an error with its request ID for the operator, and a retry button. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  const wait = useSecondsLeft(error instanceof ApiError ? error.retryAfter : null);
  const retry = onRetry && (
    <Button icon="again" isDisabled={wait > 0} onPress={onRetry}>
      {wait > 0 ? `Try again in ${wait} s` : 'Try again'}
    </Button>
  );
  if (error instanceof OfflineError) {
    return (
      <Message actions={retry} icon="offline" title="The service is not reachable">
        This device is offline, or the service is restarting.
      </Message>
    );
  }
  if (error instanceof ApiError && error.status === 403) return <NoPermission />;
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Message icon="search" title="Not found">
        It was removed, or it belongs to another account.
      </Message>
    );
  }
  return (
    <div className="failed" role="alert">
      <Message actions={retry} icon="close" title="That didn’t work">
        <p>{error instanceof Error ? error.message : String(error)}</p>
        {error instanceof ApiError && error.requestId && (
          <p className="request-id">
            Request <code>{error.requestId}</code> <CopyButton text={error.requestId} what="request id" />
          </p>
        )}
      </Message>
    </div>
  );
}

/** Whether an error has a place of its own here: in a dialog, which keeps its buttons in place, or below a form's button. */
export const ErrorPlace = createContext(false);

/**
 * What the service answered to a form or a button, with the request ID if it failed. Without a place of its own it stands in a
 * notice above the page: nothing moves that somebody is about to click. It says nothing about an error that stands at a field.
 */
export function InlineError({ error }: { error: unknown }) {
  const hasPlace = useContext(ErrorPlace);
  const hasField = useHasField(error);
  const text = !error || hasField ? null : errorText(error);
  useStandingNotice(hasPlace ? null : text);
  if (text === null || !hasPlace) return null;
  return (
    <p className="inline-error" role="alert" tabIndex={-1}>
      {text}
    </p>
  );
}

function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return error instanceof ApiError && error.status >= 500 && error.requestId
    ? `${text} Request ${error.requestId}`
    : text;
}

/**
 * The place of an error below the button of a form on a page; `children` are what to do about it. It is there before the error
 * comes, and what does not fit covers what follows.
 */
export function FormError({ children, error }: { error: unknown; children?: ReactNode }) {
  return (
    <div className="form-error">
      <div>
        <ErrorPlace value={true}>
          <InlineError error={error} />
        </ErrorPlace>
        {children}
      </div>
    </div>
  );
}

interface LoadedProps<T> {
  query: Pick<UseQueryResult<T>, 'data' | 'dataUpdatedAt' | 'error' | 'isFetching' | 'refetch'>;
  skeleton?: ReactNode;
  children: (data: T) => ReactNode;
}

/**
 * Shows a query's data: a skeleton before it arrives, or an error with a retry button. Data that could not be refreshed stays,
 * and a notice says how old it is.
 */
export function Loaded<T>({ query, skeleton = <SkeletonRows />, children }: LoadedProps<T>) {
  const { data, dataUpdatedAt, error, isFetching, refetch } = query;
  const client = useQueryClient();
  const stale =
    data !== undefined && error ? `${error.message} Showing data from ${clockTime(dataUpdatedAt)}.` : null;
  useStandingNotice(stale, {
    label: 'Try again',
    onAction: () =>
      void client.refetchQueries({ type: 'active', predicate: ({ state }) => state.error !== null }),
  });
  if (data !== undefined) return children(data);
  return error && !isFetching ? <ErrorState error={error} onRetry={() => void refetch()} /> : skeleton;
}

function subscribe(listener: () => void): () => void {
  addEventListener('online', listener);
  addEventListener('offline', listener);
  return () => {
    removeEventListener('online', listener);
    removeEventListener('offline', listener);
  };
}

/** A notice while the device is offline. */
export function OfflineNotice() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine);
  useStandingNotice(isOnline ? null : 'You are offline. Data may be out of date.');
  return null;
}
