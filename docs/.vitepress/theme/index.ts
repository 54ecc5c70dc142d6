/** The default theme without its fonts, and the element that opens the playground. */
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import './style.css';

export default {
  extends: DefaultTheme,
  async enhanceApp() {
    if (import.meta.env.SSR) return;
    const { PlaygroundEmbed } = await import('./playground-embed.js');
    customElements.define('playground-embed', PlaygroundEmbed);
  },
} satisfies Theme;
