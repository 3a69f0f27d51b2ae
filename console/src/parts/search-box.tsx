import './field.css';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Input } from 'react-aria-components/Input';
import { SearchField } from 'react-aria-components/SearchField';
import { Icon } from './icons.tsx';

/** The wait after the last keystroke; people type one in 100 to 250 ms. */
const PAUSE_MS = 250;

interface SearchBoxProps {
  /** The accessible name; there is no visible label. */
  label: string;
  value: string;
  onSearch: (q: string) => void;
}

/** A search field that updates the URL when typing pauses, and follows the URL on back and forward. `/` focuses it. */
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
  return (
    <SearchField aria-label={label} className="search" onChange={setText} value={text}>
      <Icon name="search" />
      <Input className="field-box" data-shortcut="/" placeholder={label} />
      {text ? (
        <Button aria-label="Clear search" className="field-inside">
          <Icon name="close" />
        </Button>
      ) : (
        <span aria-hidden="true" className="search-key">
          /
        </span>
      )}
    </SearchField>
  );
}
