import './copy.css';
import { useEffect, useState } from 'react';
import { announce } from './announcer.tsx';
import { Button } from './button.tsx';
import { ScrollBox } from './scroll-box.tsx';

interface CopyButtonProps {
  /** A function is called when the button is pressed: for a text that takes long to make. */
  text: string | (() => string);
  /** Names the text, such as "SQL". */
  what: string;
  /** The button's text; by default "Copy". */
  label?: string;
}

/** Copies `text` to the clipboard and confirms it, also to screen readers. */
export function CopyButton({ text, what, label }: CopyButtonProps) {
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready');
  useEffect(() => {
    if (state === 'ready') return;
    const timer = setTimeout(() => setState('ready'), 2_500);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
      setState('copied');
      announce(`${what} copied`);
    } catch {
      setState('failed');
      announce(`${what} could not be copied. Select and copy it yourself.`);
    }
  };
  const word = { ready: label ?? 'Copy', copied: 'Copied', failed: 'Select and copy' }[state];
  return (
    <Button
      aria-label={word.endsWith(what) ? word : `${word} ${what}`}
      icon={state === 'copied' ? 'check' : 'copy'}
      kind="quiet"
      onPress={copy}
      small
    >
      {word}
    </Button>
  );
}

/** Text to paste elsewhere, shown verbatim with a copy button. `what` names the text, such as "SQL" or "command". */
export function CodeBlock({ text, what }: { text: string; what: string }) {
  return (
    <div className="code-block">
      <ScrollBox isText label={what}>
        <code>{text}</code>
      </ScrollBox>
      <CopyButton text={text} what={what} />
    </div>
  );
}
