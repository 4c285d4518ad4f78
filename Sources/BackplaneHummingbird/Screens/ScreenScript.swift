#if Engines
/// The script of pages.
enum ScreenScript {
    /// The content of `screens.js`.
    static let source = #"""
        // The page of a window: shows what the server sends, and sends what the person does.
        "use strict";
        (() => {
            const page = document.body.dataset, notice = document.getElementById("notice");
            const reducesMotion = matchMedia("(prefers-reduced-motion: reduce)");
            const tab = tabID();
            let revision = Number(page.revision), applied = Promise.resolve(), attempts = 0, lostAt = 0;

            // A tab keeps its window when its page is loaded again.
            function tabID() {
                const bytes = crypto.getRandomValues(new Uint8Array(12));
                let id = Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");
                try {
                    id = sessionStorage.getItem("tab") ?? id;
                    sessionStorage.setItem("tab", id);
                } catch { /* The person has turned storage off. */ }
                return id;
            }
            const keepTab = seconds => {
                document.cookie = `${page.cookie}=${tab}; path=/; max-age=${seconds}; samesite=strict`;
            };
            keepTab(0);
            addEventListener("beforeunload", () => keepTab(10));
            addEventListener("pageshow", event => { if (event.persisted) location.reload(); });

            const here = () => location.pathname + location.search;
            const say = text => { notice.textContent = text; notice.hidden = !text; };

            // MARK: The connection

            let events = null, attempt = 0, leaving = 0, isAway = false;

            function connect() {
                const query = new URLSearchParams({ tab, revision, address: here() });
                if (page.window) query.set("window", page.window);
                events = new EventSource("/events?" + query);
                events.onmessage = event => {
                    delete page.window;
                    if (lostAt) say("");
                    attempts = lostAt = 0;
                    receive(JSON.parse(event.data));
                };
                events.onerror = () => {
                    disconnect();
                    lostAt ||= Date.now();
                    attempt = setTimeout(tryAgain, Math.min(250 * 2 ** attempts++, 4000));
                };
            }

            function disconnect() {
                clearTimeout(attempt);
                events?.close();
                events = null;
            }

            async function tryAgain() {
                if (Date.now() - lostAt > 1000) say("The connection is lost. Trying again …");
                const answer = await fetch("/events", { method: "HEAD" }).catch(() => null);
                if (answer?.status === 403) return location.reload();
                if (!events && !isAway) connect();
            }

            // A browser has few connections to a server, and those of tabs in the background would stop others.
            function watch() {
                clearTimeout(leaving);
                if (document.hidden) {
                    leaving = setTimeout(() => {
                        isAway = true;
                        disconnect();
                    }, 5000);
                } else if (isAway) {
                    isAway = false;
                    connect();
                }
            }

            const problems = {
                410: "The page was out of date. Try again.", 413: "That is too large to be sent.",
                503: "The application is busy. Try again.",
            };

            async function post(event) {
                const answer = await fetch("/event", {
                    method: "POST",
                    headers: { "Content-Type": "application/json", "X-Screen-Token": page.token },
                    body: JSON.stringify({ tab, ...event }),
                }).catch(() => null);
                if (answer?.status === 403) location.reload();
                if (!answer) say("The connection is lost. Try again.");
                // A link that cannot be followed leads to a page that says why.
                else if (answer.ok || event.kind === "link") say("");
                else say(problems[answer.status] ?? "The application could not do that. Try again.");
                await reached(Number(answer?.headers.get("X-Screen-Revision") ?? 0));
                return answer?.ok;
            }

            // MARK: What the server sends

            let goals = [];
            const reached = number => number <= revision ? applied : new Promise(done => goals.push({ number, done }));

            function receive(message) {
                applied = applied.then(() => {
                    const isStill = !message.moves || reducesMotion.matches || document.hidden;
                    if (isStill || !document.startViewTransition) return apply(message);
                    const transition = document.startViewTransition(() => apply(message));
                    transition.ready.catch(() => { /* It was skipped. */ });
                    return transition.updateCallbackDone;
                }).catch(error => {
                    console.error(error);
                    location.reload();
                });
            }

            const scrolls = new Map(), focused = new Map();
            const isUsable = control => control && !control.disabled && !control.closest("[inert]");
            const shownScreen = () => document.querySelector("#screen .body")?.id;
            const front = () => document.querySelector("#alert dialog") ?? document.querySelector("#modal dialog")
                ?? document.getElementById("screen");
            const nameOfFront = () => (front().querySelector(".body") ?? front()).id;

            function apply(message) {
                const screen = shownScreen(), name = nameOfFront(), active = document.activeElement;
                const selection = selectionOf(active);
                scrolls.set(screen, scrollY);
                if (active !== document.body) focused.set(name, active.id);
                if (message.content !== undefined) {
                    for (const part of parse(message.content).children) morph(document.getElementById(part.id), part);
                }
                for (const patch of message.patches ?? []) applyPatch(patch);
                if (message.title !== undefined) document.title = message.title;
                if (message.address !== undefined && message.address !== here()) {
                    history[message.moves === undefined ? "replaceState" : "pushState"](null, "", message.address);
                }
                restoreFocus(active, nameOfFront() !== name);
                const target = document.activeElement;
                if (target !== active && target.id && target.id === active.id) select(target, selection);
                if (shownScreen() !== screen) scrollTo(0, scrolls.get(shownScreen()) ?? 0);
                revision = message.revision;
                const isThere = goal => message.content !== undefined || goal.number <= revision;
                for (const goal of goals.filter(isThere)) goal.done();
                goals = goals.filter(goal => !isThere(goal));
            }

            // Gives the focus to the element that had it, once that can be used, or to the first one of another screen.
            function restoreFocus(active, isOther) {
                if (!isOther && active.isConnected && document.activeElement !== document.body) return;
                const id = focused.get(nameOfFront()), target = id && document.getElementById(id);
                if (isUsable(target)) return target.focus({ preventScroll: true });
                if (!isOther && (target || !id)) return;
                for (const kind of ["[autofocus]", "h1[tabindex]", "button, a"]) {
                    const first = [...front().querySelectorAll(kind)].find(isUsable);
                    if (first) return first.focus({ preventScroll: true });
                }
            }

            const selectionOf = control => [control.selectionStart, control.selectionEnd, control.selectionDirection];

            function select(control, selection) {
                if (selection[0] != null && control?.selectionStart != null) control.setSelectionRange(...selection);
            }

            function parse(html) {
                const template = document.createElement("template");
                template.innerHTML = html;
                return template.content;
            }

            function applyPatch({ kind, id, html, parent, before }) {
                const element = document.getElementById(id);
                const neighbour = before ? document.getElementById(before) : null;
                switch (kind) {
                case "replace": return morph(element, parse(html).firstElementChild);
                case "fill": return morphChildren(element, parse(html));
                case "insert": return document.getElementById(parent).insertBefore(parse(html).firstChild, neighbour);
                case "move": return document.getElementById(parent).insertBefore(element, neighbour);
                case "remove": return element.remove();
                case "cover": case "uncover": return element.toggleAttribute("inert", kind === "cover");
                case "title": document.title = html;
                }
            }

            // Makes one node like another, and keeps what is in use: focus, transitions, and what the person types.
            function morph(old, wanted) {
                const isOther = old.nodeName !== wanted.nodeName || old.id !== wanted.id
                    // An image would be shown until the next one is there.
                    || old.nodeName === "IMG" && old.getAttribute("src") !== wanted.getAttribute("src");
                if (isOther) return old.replaceWith(wanted);
                if (old.nodeType !== Node.ELEMENT_NODE) {
                    if (old.data !== wanted.data) old.data = wanted.data;
                    return;
                }
                const drawn = drawnValue(old), next = drawnValue(wanted);
                if (old.name === "press" && pressed.has(old.value)) {
                    pressed.set(old.value, wanted.getAttribute("aria-busy") === "true");
                    wanted.setAttribute("aria-busy", "true");
                }
                for (const { name } of [...old.attributes]) if (!wanted.hasAttribute(name)) old.removeAttribute(name);
                for (const { name, value } of wanted.attributes) {
                    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
                }
                morphChildren(old, wanted);
                // The screen has only received what was typed, or has changed it; what is typed meanwhile follows.
                const isKnown = drawn === next || next === undefined || next === old.sent;
                if (!isKnown && !changes.has(old.name)) show(old, next);
            }

            function morphChildren(old, wanted) {
                const known = new Map();
                for (const child of old.children) if (child.id) known.set(child.id, child);
                let next = old.firstChild;
                for (const child of [...wanted.childNodes]) {
                    const place = next && !next.id && next.nodeName === child.nodeName ? next : null;
                    const same = child.id ? known.get(child.id) : place;
                    if (!same) {
                        old.insertBefore(child, next);
                    } else {
                        if (same === next) next = next.nextSibling; else old.insertBefore(same, next);
                        morph(same, child);
                    }
                }
                while (next) {
                    const rest = next.nextSibling;
                    next.remove();
                    next = rest;
                }
            }

            // MARK: Controls

            const isSwitch = control => control.type === "checkbox";
            const valueOf = control => isSwitch(control) ? String(control.checked) : control.value;

            // The value that the screen has given a control; nothing for other elements, and for a secret.
            function drawnValue(control) {
                if (control.dataset?.filled !== undefined) return;
                if (isSwitch(control)) return String(control.defaultChecked);
                if (control.nodeName === "SELECT") return control.querySelector("option[selected]")?.value ?? "";
                if (control.nodeName === "TEXTAREA" || control.nodeName === "INPUT") return control.defaultValue;
            }

            function show(control, value) {
                if (isSwitch(control)) control.checked = value === "true"; else control.value = value;
                control.sent = undefined;
            }

            const valuesIn = form => Object.fromEntries([...new FormData(form)].filter(([name]) => name.includes("/")));

            // MARK: What the person does

            const changes = new Map(), pressed = new Map();
            let sending = null;

            // Of several changes of a control, only the last is sent while another one is under way.
            function change(control) {
                if (!control.form || !control.name) return;
                if (control.sent === valueOf(control) && !changes.has(control.name)) return;
                changes.set(control.name, control);
                sending ??= sendChanges().finally(() => { sending = null; });
            }

            async function sendChanges() {
                while (changes.size > 0) {
                    const [id, control] = changes.entries().next().value;
                    changes.delete(id);
                    const value = control.sent = valueOf(control);
                    if (!await post({ kind: "change", id, value, values: valuesIn(control.form) })) {
                        control.sent = undefined;
                    }
                    // The screen may have left a switch as it was.
                    if (control.type !== "checkbox" && control.nodeName !== "SELECT") continue;
                    if (valueOf(control) === value && drawnValue(control) !== value) show(control, drawnValue(control));
                }
            }

            async function press(button) {
                const id = button.value;
                if (button.matches("[aria-busy=true], [aria-disabled=true]")) return;
                pressed.set(id, false);
                button.setAttribute("aria-busy", "true");
                await sending;
                await post({ kind: "press", id, values: valuesIn(button.form) });
                const buttons = document.querySelectorAll(`button[name=press][value="${CSS.escape(id)}"]`);
                if (!pressed.get(id)) for (const other of buttons) other.removeAttribute("aria-busy");
                pressed.delete(id);
            }

            const changeLive = event => {
                if (event.target.dataset.live !== undefined && !event.isComposing) change(event.target);
            };
            document.addEventListener("input", changeLive);
            document.addEventListener("compositionend", changeLive);
            document.addEventListener("change", event => change(event.target));

            document.addEventListener("submit", async event => {
                event.preventDefault();
                const button = event.submitter, field = document.activeElement;
                if (button?.name === "press") return press(button);
                if (button?.name === "alert") return post({ kind: "alert" });
                if (field?.form !== event.target || !field.name.includes("/")) return;
                if (isSwitch(field) || field.nodeName === "SELECT") return;
                const value = field.value, values = valuesIn(field.form);
                change(field);
                await sending;
                post({ kind: "submit", id: field.name, value, values });
            });

            const following = new Set();
            document.addEventListener("click", async event => {
                const link = event.target.closest("a[href^='/']");
                if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
                event.preventDefault();
                const address = link.getAttribute("href");
                if (following.has(address)) return;
                following.add(address);
                link.setAttribute("aria-busy", "true");
                // The screen learns first what was typed, unless that takes long. Other links are the window's.
                if (link.id) await Promise.race([sending, new Promise(done => setTimeout(done, 1000))]);
                if (await post({ kind: "link", id: link.id, address }) === false) location.assign(address);
                link.removeAttribute("aria-busy");
                following.delete(address);
            });

            // What had the focus does not get it back after a click beside it.
            document.addEventListener("pointerdown", () => focused.delete(nameOfFront()));

            document.addEventListener("keydown", event => {
                if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
                const way = document.querySelector("#alert button") ?? document.querySelector("#modal .back");
                way?.click();
            });

            addEventListener("popstate", async () => {
                if (await post({ kind: "link", id: "", address: here() }) === false) location.reload();
            });

            history.scrollRestoration = "manual";
            document.addEventListener("visibilitychange", watch);
            connect();
            watch();
        })();

        """#
}
#endif
