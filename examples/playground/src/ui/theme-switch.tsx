/**
 * Light or dark theme. The system's setting applies until the user selects another one, which is stored. A page that
 * embeds the playground asks for its own with `?theme=dark`.
 */
import { useEffect, useState } from 'preact/hooks';

const STORAGE_KEY = 'orchplane-playground-theme';
type Theme = 'light' | 'dark';

export function ThemeSwitch() {
  const [chosen, setChosen] = useState<Theme | undefined>(loadTheme);
  const [systemIsDark, setSystemIsDark] = useState(() => systemTheme().matches);
  useEffect(() => {
    const system = systemTheme();
    const follow = (): void => setSystemIsDark(system.matches);
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, []);
  useEffect(() => {
    if (chosen === undefined) delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = chosen;
  }, [chosen]);
  const isDark = chosen === undefined ? systemIsDark : chosen === 'dark';
  return (
    <button
      type="button"
      class="icon theme"
      aria-label={isDark ? 'Light colours' : 'Dark colours'}
      title={isDark ? 'Light colours' : 'Dark colours'}
      onClick={() => {
        const theme = isDark ? 'light' : 'dark';
        setChosen(theme);
        saveTheme(theme);
      }}
    >
      <svg
        width="16"
        height="16"
        viewBox="0 0 16 16"
        aria-hidden="true"
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linecap="round"
      >
        {isDark ? (
          <>
            <circle cx="8" cy="8" r="3" />
            <path d="M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1" />
          </>
        ) : (
          <path d="M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1Z" stroke-linejoin="round" />
        )}
      </svg>
    </button>
  );
}

function systemTheme(): MediaQueryList {
  return matchMedia('(prefers-color-scheme: dark)');
}

function loadTheme(): Theme | undefined {
  try {
    const theme = new URLSearchParams(location.search).get('theme') ?? localStorage.getItem(STORAGE_KEY);
    return theme === 'light' || theme === 'dark' ? theme : undefined;
  } catch {
    return undefined; // storage is not available: follow the system
  }
}

function saveTheme(theme: Theme): void {
  try {
    localStorage.setItem(STORAGE_KEY, theme);
  } catch {
    // Storage is not available: the setting lasts until the page is closed.
  }
}
