import type { ReactNode } from 'react';

interface ScrollBoxProps {
  /** The accessible name. */
  label: string;
  children: ReactNode;
  className?: string;
  /** Keeps spaces and lines. */
  isText?: boolean;
}

/** A box whose content may scroll. It is a Tab stop, so that the keyboard can scroll it. */
export function ScrollBox({ label, children, className, isText = false }: ScrollBoxProps) {
  const Box = isText ? 'pre' : 'div';
  return (
    <Box aria-label={label} className={className} role="group" tabIndex={0}>
      {children}
    </Box>
  );
}
