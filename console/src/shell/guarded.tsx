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

/** The path of a page of the navigation. */
export type Place = (typeof PLACES)[number]['to'];

/** What a page of the navigation needs. */
export function findNeeds(path: Place): Needs {
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
