import './connection-filter.css';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Button } from './button.tsx';
import { foundConnectionsQuery } from './found-connections.ts';
import { SearchChoice } from './search-choice.tsx';

/** The most connections to suggest. */
const OFFERED = 20;

interface ConnectionFilterProps {
  /** The name of the connection that the list is filtered by; null for none. */
  chosen: string | null;
  onChange: (id: string | undefined) => void;
}

/** Filters a list by one connection, found by part of its name or host. */
export function ConnectionFilter({ chosen, onChange }: ConnectionFilterProps) {
  if (chosen === null) return <ConnectionSearch onChoose={onChange} />;
  return (
    <Button
      aria-label={`Connection ${chosen}: show all connections`}
      icon="close"
      onPress={() => onChange(undefined)}
    >
      <bdi className="chosen-connection">{chosen}</bdi>
    </Button>
  );
}

function ConnectionSearch({ onChoose }: { onChoose: (id: string) => void }) {
  const [text, setText] = useState('');
  const q = useDeferredValue(text.trim());
  const { data } = useQuery({
    ...foundConnectionsQuery(q, OFFERED),
    enabled: q !== '',
    select: (fleet) =>
      fleet.data.map(({ id, name, host }) => ({ id: String(id), label: name, description: host })),
  });
  return (
    <SearchChoice
      found={q === '' ? [] : (data ?? [])}
      label="Connection"
      nothing={data ? 'No connection matches.' : 'Searching…'}
      onChoose={onChoose}
      onText={setText}
      // Opens while the person types; nothing would open it when the answer arrives.
      options={{ allowsEmptyCollection: text.trim() !== '' }}
      placeholder="Connection"
      text={text}
    />
  );
}
