/// The stylesheet of the pages of ``HTMLRendering``.
///
/// Colours of texts and of the borders of controls have the contrast of WCAG 2.2, AA, with their backgrounds.
package enum StyleSheet {
    /// The content of `screens.css`.
    package static let css = """
        :root {
            color-scheme: light dark;
            --page: #fbfbfa; --raised: #ffffff; --text: #1c1d1f; --faint: #55585e; --line: #d6d8dc; --edge: #767a82;
            --accent: #0a5cc2; --on-accent: #ffffff; --critical: #b3261e; --on-critical: #ffffff; --shade: #00000066;
            --veil: #fbfbfae0;
        }
        @media (prefers-color-scheme: dark) {
            :root {
                --page: #16171a; --raised: #212328; --text: #ececee; --faint: #a9adb6; --line: #3a3d44;
                --edge: #8a8f99; --accent: #8ab8ff; --on-accent: #0b1a30; --critical: #ff9b93; --on-critical: #3a0906;
                --shade: #000000a6; --veil: #16171ae0;
            }
        }
        *, ::before, ::after { box-sizing: border-box; }
        html { font: 100%/1.5 system-ui, sans-serif; background: var(--page); color: var(--text); }
        body { margin: 0; overflow-wrap: anywhere; }
        [hidden] { display: none; }
        h1, h2, h3, h4, h5, h6 { line-height: 1.2; margin: 0; text-wrap: balance; }
        h1 { font-size: 1.75rem; }
        h2 { font-size: 1.3rem; }
        h3, h4, h5, h6 { font-size: 1.1rem; }
        h1:focus { outline: none; }
        p { margin: 0; white-space: pre-wrap; }
        a { color: var(--accent); text-underline-offset: 0.15em; }
        a[aria-disabled=true] { color: var(--faint); }
        a[aria-busy=true] { cursor: progress; opacity: 0.6; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 0.25rem; }

        #bar { position: sticky; top: 0; z-index: 1; background: var(--page); }
        #tabs nav { border-bottom: 1px solid var(--line); }
        #tabs ul { display: flex; gap: 0.25rem; list-style: none; margin: 0 auto; padding: 0 1rem; max-width: 60rem;
            overflow-x: auto; scrollbar-width: none; white-space: nowrap; }
        #tabs a { display: block; padding: 0.75rem; color: var(--faint); text-decoration: none; }
        #tabs a:focus-visible { outline-offset: -3px; }
        #tabs a:hover { color: var(--text); }
        #tabs a[aria-current] { color: var(--text); font-weight: 600; box-shadow: inset 0 -3px var(--accent); }
        #activity { position: absolute; inset: 0 0 auto; height: 3px; overflow: hidden; }
        #activity span { display: block; height: 100%; width: 40%; background: var(--accent); color: transparent;
            animation: sweep 1.2s ease-in-out infinite; }
        @keyframes sweep { from { margin-left: -40%; } to { margin-left: 100%; } }
        main { max-width: 60rem; margin: 0 auto; padding: 1.25rem 1rem 4rem; }
        .title { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 1rem; margin-bottom: 1.25rem; }
        .title:empty { display: none; }
        .back { flex-basis: 100%; }
        .back::before { content: "‹ "; }

        .body, .column, .section { display: flex; flex-direction: column; gap: 0.75rem; min-width: 0; }
        :is(.body, .column, .section) > :is(a, button) { align-self: flex-start; }
        .body, .section { gap: 1rem; }
        .row { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1rem; min-width: 0; }
        .row > :is(.column, .field, .choice) { flex: 1 1 12rem; }
        .row:has(> :is(.field, .choice)) { align-items: end; }
        .column:empty, .row:empty { display: none; }
        .list { list-style: none; margin: 0; padding: 0; border-top: 1px solid var(--line); }
        .list > li { padding: 0.75rem 0; border-bottom: 1px solid var(--line); }
        table { width: 100%; border-collapse: collapse; }
        th, td { padding: 0.5rem 0.75rem 0.5rem 0; text-align: start; vertical-align: top;
            border-bottom: 1px solid var(--line); }
        th, td { overflow-wrap: break-word; }
        th { color: var(--faint); font-size: 0.875rem; }

        .secondary { color: var(--faint); }
        .strong { font-weight: 600; }
        .critical { color: var(--critical); }
        code { font-family: ui-monospace, monospace; }

        label { font-weight: 600; }
        .field, .choice { display: flex; flex-direction: column; gap: 0.25rem; max-width: 32rem; }
        input, select, textarea, button { font: inherit; color: inherit; }
        input:not([type=checkbox]), select, textarea { min-height: 2.75rem; padding: 0.5rem 0.75rem; width: 100%;
            background: var(--raised); border: 1px solid var(--edge); border-radius: 0.5rem; }
        textarea { min-height: 8rem; }
        ::placeholder { color: var(--faint); opacity: 1; }
        :is(input, select, textarea)[aria-invalid=true] { border-color: var(--critical); }
        :disabled { cursor: default; opacity: 0.6; }
        .problem { color: var(--critical); }
        .problem:empty { display: none; }
        .toggle label { display: inline-flex; align-items: center; gap: 0.75rem; min-height: 2.75rem;
            font-weight: 400; }
        .toggle input { width: 1.5rem; height: 1.5rem; accent-color: var(--accent); }

        button { position: relative; min-height: 2.75rem; padding: 0.5rem 1.25rem; background: var(--raised);
            border: 1px solid var(--edge); border-radius: 0.5rem; cursor: pointer; }
        button.strong { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
        button.critical { background: var(--critical); border-color: var(--critical); color: var(--on-critical); }
        button.secondary { background: none; border-color: transparent; color: var(--accent); }
        button[aria-busy=true] { cursor: default; }
        button span { transition: opacity 0.3s; }
        button::after { content: ""; position: absolute; inset: 0; margin: auto; width: 1.25rem; height: 1.25rem;
            border: 2px solid currentColor; border-right-color: transparent; border-radius: 50%; opacity: 0;
            transition: opacity 0.3s; pointer-events: none; }
        button[aria-busy=true] span { opacity: 0; }
        button[aria-busy=true]::after { opacity: 1; animation: turn 0.8s linear infinite; }
        @starting-style {
            button[aria-busy=true] span { opacity: 1; }
            button[aria-busy=true]::after { opacity: 0; }
        }
        @keyframes turn { to { transform: rotate(1turn); } }

        .progress { display: flex; flex-direction: column; gap: 0.25rem; max-width: 32rem; }
        progress { width: 100%; height: 0.5rem; accent-color: var(--accent); }
        .image { display: grid; place-items: center; flex: none; width: 6rem; height: 9rem; padding: 0.25rem;
            overflow: hidden; background: var(--line); color: var(--text); border-radius: 0.25rem; font-size: 0.75rem;
            text-align: center; object-fit: cover; }
        img.image { padding: 0; }
        .image[aria-busy=true] { animation: pulse 1.2s ease-in-out infinite alternate; }
        @keyframes pulse { to { opacity: 0.6; } }

        .overlay { position: relative; display: flex; flex-direction: column; gap: 1rem; }
        .overlay:has(> :first-child:not(.column:empty, .row:empty)) { min-height: 12rem; }
        .overlay > :first-child:not(.column:empty, .row:empty) { position: absolute; inset: 0; z-index: 1;
            display: flex; flex-direction: column; align-items: center; justify-content: center; gap: 0.75rem;
            padding: 1rem; text-align: center; background: var(--veil); border-radius: 0.5rem; }
        .overlay > :first-child > * { align-self: center; }
        .overlay > :first-child > .progress { width: min(16rem, 100%); }

        dialog { position: fixed; inset: 0; z-index: 2; margin: auto; width: min(40rem, 100%); max-height: 100%;
            overflow: auto; padding: 1.5rem; background: var(--raised); color: inherit; border: 0;
            border-radius: 0.75rem;
            box-shadow: 0 0 0 100vmax var(--shade); }
        dialog form { display: flex; flex-direction: column; gap: 1rem; }
        [role=alertdialog] { width: min(28rem, 100%); z-index: 3; }
        #alert button { align-self: flex-end; }

        @media (max-width: 40rem) {
            h1 { font-size: 1.5rem; }
            #bar:has(nav) { position: fixed; inset: auto 0 0; }
            #tabs nav { border: 0; border-top: 1px solid var(--line); padding-bottom: env(safe-area-inset-bottom); }
            #tabs ul { padding: 0; gap: 0; }
            #tabs li { flex: 1 0 auto; text-align: center; }
            #tabs a[aria-current] { box-shadow: inset 0 3px var(--accent); }
            dialog { inset: auto 0 0; border-radius: 0.75rem 0.75rem 0 0; }
            table { display: block; overflow-x: auto; }
            th, td { padding-right: 0.5rem; }
        }
        @media (prefers-reduced-motion: reduce) {
            *, ::before, ::after { animation: none !important; transition: none !important; }
            #activity span { width: 100%; }
        }
        @media (forced-colors: active) {
            button[aria-busy=true]::after { border-color: ButtonText; border-right-color: transparent; }
        }
        """
}
