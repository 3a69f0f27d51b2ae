import './signed-out-layout.css';
import { type ReactNode, useEffect } from 'react';
import { BASE_PATH } from '../base-path.ts';
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
