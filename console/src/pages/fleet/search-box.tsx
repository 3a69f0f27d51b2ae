import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { SearchField } from '../../parts/field.tsx';

/** After the last letter; a person types one in 100 to 250 ms. */
const PAUSE_MS = 250;

/** A box whose text goes to the address when the typing pauses; the address, changed by the browser's buttons, goes into the box. */
export function SearchBox({ value, onSearch }: { value: string; onSearch: (q: string) => void }) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    if (value !== sent.current) setText(value);
    sent.current = value;
  }, [value]);
  const search = useEffectEvent((q: string) => {
    if (q === sent.current) return;
    sent.current = q;
    onSearch(q);
  });
  useEffect(() => {
    const timer = setTimeout(() => search(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return <SearchField label="Search by name or host" onChange={setText} shortcut value={text} />;
}
