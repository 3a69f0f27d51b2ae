import type { ReactNode } from 'react';
import { Page } from '../parts/page.tsx';
import { NoPermission } from '../parts/states.tsx';
import { PLACES } from './places.ts';
import { useCan } from './profile.ts';

/** The permission that a page takes as a whole, and its title for those who lack it. */
export interface Needs {
  title: string;
  permission: string;
}

/** What a page of the navigation needs. */
export function findNeeds(path: (typeof PLACES)[number]['to']): Needs {
  const place = PLACES.find(({ to }) => to === path);
  if (!place) throw new Error(`${path} is not in the navigation.`);
  return { title: place.label, permission: place.permission };
}

/** Shows a page to members who have its permission. */
export function Guarded({ title, permission, children }: Needs & { children: ReactNode }) {
  const can = useCan();
  if (can(permission)) return children;
  return (
    <Page title={title}>
      <NoPermission permission={permission} />
    </Page>
  );
}
