import './shell.css';
import { Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { IconButton } from '../parts/button.tsx';
import { useShortcut } from '../parts/shortcut.ts';
import { OfflineNotice } from '../parts/states.tsx';
import { undoLast } from '../parts/undo.ts';
import { Brand } from './brand.tsx';
import { Navigation } from './navigation.tsx';
import { OpenPalette } from './palette/open-palette.tsx';
import { Reauthenticate } from './reauthenticate.tsx';
import { SampleBanner } from './sample-banner.tsx';
import { Shortcuts } from './shortcuts.tsx';

function focusSearch(): void {
  document.querySelector<HTMLElement>('[data-shortcut="/"]')?.focus();
}

/** The frame of every page: navigation at the side, or behind a button on narrow screens. */
export function Shell() {
  const [isOpen, setOpen] = useState(false);
  const [showsPalette, setShowsPalette] = useState(false);
  const [showsShortcuts, setShowsShortcuts] = useState(false);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the drawer
  useEffect(() => setOpen(false), [pathname]);
  useShortcut('/', focusSearch);
  useShortcut('z', undoLast);
  useShortcut('?', () => setShowsShortcuts(true));
  const navigation = (
    <Navigation
      onPalette={() => {
        setOpen(false);
        setShowsPalette(true);
      }}
      onShortcuts={() => setShowsShortcuts(true)}
    />
  );
  return (
    <div className="shell">
      <a className="skip-link" href="#content">
        Skip to content
      </a>
      <header className="shell-side">{navigation}</header>
      <header className="shell-bar">
        <IconButton icon="menu" label="Open navigation" onPress={() => setOpen(true)} />
        <Brand />
      </header>
      <ModalOverlay className="shade drawer-shade" isDismissable isOpen={isOpen} onOpenChange={setOpen}>
        <Modal className="drawer">
          <Dialog aria-label="Navigation" className="drawer-content">
            <IconButton icon="close" label="Close navigation" onPress={() => setOpen(false)} />
            {navigation}
          </Dialog>
        </Modal>
      </ModalOverlay>
      <Reauthenticate />
      <OpenPalette
        isOpen={showsPalette}
        onOpenChange={setShowsPalette}
        onShortcuts={() => setShowsShortcuts(true)}
      />
      {showsShortcuts && <Shortcuts onClose={() => setShowsShortcuts(false)} />}
      <div className="shell-main">
        <OfflineNotice />
        <SampleBanner />
        <main id="content" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
    </div>
  );
}
