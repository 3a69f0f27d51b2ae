import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { SearchField } from './field.tsx';

/** The wait after the last keystroke; people type one in 100 to 250 ms. */
const PAUSE_MS = 250;

interface SearchBoxProps {
  label: string;
  value: string;
  onSearch: (q: string) => void;
}

/** A search field that updates the URL when typing pauses, and follows the URL on back and forward. */
export function SearchBox({ label, value, onSearch }: SearchBoxProps) {
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
  return <SearchField label={label} onChange={setText} shortcut value={text} />;
}
