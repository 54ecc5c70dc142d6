/** The ids of the panels, for pages that open one. */
export const PANEL_IDS = ['watch', 'command-line', 'pod', 'scenarios', 'time', 'access', 'cel', 'requests'] as const;

export type PanelId = (typeof PANEL_IDS)[number];
