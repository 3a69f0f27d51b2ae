import './signed-out-layout.css';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { ApiError } from '../api.ts';
import { BASE_PATH } from '../base-path.ts';
import { Loaded, SkeletonRows } from '../parts/states.tsx';
import { Brand } from './brand.tsx';

/** The frame of the pages for visitors who are not signed in. */
export function SignedOutLayout({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · dbvitals`;
  }, [title]);
  return (
    <main className="entrance">
      <div className="entrance-card">
        <Brand />
        <h1>{title}</h1>
        {children}
      </div>
      <p className="entrance-foot">
        <a href={`${BASE_PATH}/docs`}>API reference</a>
      </p>
    </main>
  );
}

interface LinkContentProps<T> {
  /** The answer to the link's token. */
  link: UseQueryResult<T>;
  /** While it is read. */
  title: string;
  /** What to do when the link can't be used. */
  action?: ReactNode;
  children: (data: T) => ReactNode;
}

/** The page that a link with a token opens, without a session. */
export function LinkContent<T>({ link, title, action, children }: LinkContentProps<T>) {
  const { data, error } = link;
  if (data !== undefined) return children(data);
  if (error instanceof ApiError && error.status === 404) {
    return (
      <SignedOutLayout title="This link can’t be used">
        <p>{error.message}</p>
        {action}
      </SignedOutLayout>
    );
  }
  return (
    <SignedOutLayout title={title}>
      <Loaded query={link} skeleton={<SkeletonRows rows={3} />}>
        {children}
      </Loaded>
    </SignedOutLayout>
  );
}
