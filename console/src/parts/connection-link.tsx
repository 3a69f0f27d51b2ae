import { Link } from '@tanstack/react-router';

/** A connection's name, which leads to its page. The name is a member's text. */
export function ConnectionLink({ id, name }: { id: number; name: string }) {
  return (
    <Link params={{ id: String(id) }} to="/connections/$id">
      <bdi>{name}</bdi>
    </Link>
  );
}
