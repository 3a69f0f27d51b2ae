interface NamedProps {
  /** Such as ` in `. */
  words: string;
  /** Of the monitored server, or a member's text; nothing is shown without one. */
  name: string | null | undefined;
  mono?: boolean;
}

/** A name after the words that lead to it: ` in orders`. */
export function Named({ words, name, mono = true }: NamedProps) {
  if (!name) return null;
  return (
    <>
      {words}
      <bdi className={mono ? 'mono' : undefined}>{name}</bdi>
    </>
  );
}
