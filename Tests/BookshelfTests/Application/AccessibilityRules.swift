/// Rules of WCAG 2.2 and WAI-ARIA that a page can check by itself.
enum AccessibilityRules {
    /// An expression in JavaScript for the problems of a page, each with the start tag of the element.
    ///
    /// What is inert, hidden or disabled is not read, and need not have contrast.
    static let problems = #"""
        (() => {
            const problems = [];
            const all = selector => [...document.querySelectorAll(selector)];
            const note = (rule, element) => problems.push(`${rule}: ${element.cloneNode(false).outerHTML}`);
            const isRead = element => !element.closest("[inert], [hidden]") && element.checkVisibility();

            // MARK: Names

            const text = element => element.textContent.trim();
            const texts = ids => ids.split(/\s+/).map(id => document.getElementById(id)?.textContent.trim()).join(" ");
            function name(element) {
                const labels = texts(element.getAttribute("aria-labelledby") ?? "").trim()
                    || (element.getAttribute("aria-label") ?? "").trim();
                if (labels) return labels;
                if (element.labels?.length) return [...element.labels].map(text).join(" ").trim();
                if (element.matches("input, select, textarea, dialog, [role=img]")) return "";
                return text(element) || [...element.querySelectorAll("img")].map(image => image.alt).join(" ").trim();
            }
            const controls = "a[href], button, input:not([type=hidden]), select, textarea, [role=link]";
            for (const element of all(`${controls}, dialog, [role=img]`).filter(isRead)) {
                if (!name(element)) note("no name", element);
            }
            for (const element of all("img:not([alt])")) note("no alternative text", element);
            for (const element of all("nav, section").filter(isRead)) if (!name(element)) note("no name", element);

            // MARK: Structure

            if (!document.documentElement.lang) note("no language", document.documentElement);
            if (!document.title.trim()) note("no title", document.head);
            for (const element of all("[id]")) {
                if (document.getElementById(element.id) !== element) note("id that is not unique", element);
            }
            for (const attribute of ["aria-labelledby", "aria-describedby", "for"]) {
                for (const element of all(`[${attribute}]`)) {
                    const ids = element.getAttribute(attribute).split(/\s+/);
                    if (!ids.every(id => document.getElementById(id))) note(`${attribute} that leads nowhere`, element);
                }
            }
            const headings = all("h1, h2, h3, h4, h5, h6").filter(isRead);
            if (headings.filter(heading => heading.nodeName === "H1").length !== 1) note("not one h1", document.body);
            let level = 0;
            for (const heading of headings) {
                const next = Number(heading.nodeName[1]);
                if (next > level + 1) note("heading that skips a level", heading);
                if (!text(heading)) note("no text", heading);
                level = next;
            }
            for (const landmark of ["main", "body > header"]) {
                if (all(landmark).length !== 1) note(`not one ${landmark}`, document.body);
            }
            for (const element of all("th:not([scope])")) note("no scope", element);
            for (const element of all("ul > :not(li), li:not(ul > li)")) note("not a list", element);
            for (const element of all(`:is(${controls}) :is(${controls}), label :is(label, a, button)`)) {
                note("control within another", element);
            }

            // MARK: Roles (ARIA in HTML)

            const any = "alert group img link list listitem none note presentation region status";
            const permitted = {
                "div, span, p, a:not([href])": any, "ul, ol": "group list none presentation radiogroup tablist toolbar",
                "a[href]": "button checkbox option radio switch tab", "section": "alert group none note region status",
                "button": "checkbox combobox link option radio switch tab", "input[type=checkbox]": "option switch",
                "dialog": "alertdialog dialog", "img[alt]": "button checkbox img link option switch",
            };
            const implicit = {
                "a[href]": "link", "button": "button", "input[type=checkbox]": "checkbox", "select": "combobox",
                "input:not([type=hidden]), textarea": "textbox", "dialog": "dialog", "progress": "progressbar",
                "ul, ol": "list", "li": "listitem", "table": "table", "tr": "row", "td": "cell",
                "th[scope=col]": "columnheader", "img": "img", "nav": "navigation", "main": "main", "form": "form",
                "section[aria-label], section[aria-labelledby]": "region", "body > header": "banner",
                "h1, h2, h3, h4, h5, h6": "heading", "p": "paragraph", "code": "code",
            };
            const roleOf = element => element.getAttribute("role")
                ?? Object.entries(implicit).find(([selector]) => element.matches(selector))?.[1] ?? "generic";
            const everywhere = "atomic busy controls current describedby details flowto hidden keyshortcuts live owns"
                + " relevant roledescription";
            const control = "disabled errormessage invalid readonly required ";
            const attributes = {
                alertdialog: "modal", button: "disabled expanded haspopup pressed", cell: "colindex colspan rowindex",
                checkbox: control + "checked expanded", columnheader: control + "sort colindex",
                combobox: control + "activedescendant autocomplete expanded haspopup", dialog: "modal",
                heading: "level", link: "disabled expanded haspopup", listitem: "level posinset setsize",
                progressbar: "valuemax valuemin valuenow valuetext", switch: control + "checked expanded",
                table: "colcount rowcount", tab: "disabled expanded haspopup selected posinset setsize",
                textbox: control + "activedescendant autocomplete haspopup multiline placeholder",
            };
            const isListed = (name, names) => Boolean(names?.split(" ").includes(name));
            for (const element of all("[role]")) {
                const role = element.getAttribute("role");
                const fits = ([selector, roles]) => element.matches(selector) && isListed(role, roles);
                if (!Object.entries(permitted).some(fits)) note("role of another element", element);
            }
            for (const element of all("*")) {
                const role = roleOf(element);
                for (const name of element.getAttributeNames().filter(name => name.startsWith("aria-"))) {
                    const attribute = name.slice(5);
                    const isPermitted = ["label", "labelledby"].includes(attribute)
                        ? !isListed(role, "code generic none paragraph presentation")
                        : isListed(attribute, everywhere) || isListed(attribute, attributes[role]);
                    if (!isPermitted) note("attribute of another role", element);
                }
            }

            // MARK: Size (WCAG 2.2, 2.5.8)

            const place = element => element.closest("header, dialog") ?? document.body;
            const targets = all(controls)
                .filter(element => isRead(element) && !element.matches(":disabled, [aria-disabled=true]"))
                .map(element => ({ element, box: element.getBoundingClientRect() }));
            const isSmall = box => Math.round(box.width) < 24 || Math.round(box.height) < 24;
            const centre = box => new DOMRect(box.x + box.width / 2, box.y + box.height / 2);
            const distance = (point, box) => Math.hypot(
                Math.max(box.left - point.x, 0, point.x - box.right),
                Math.max(box.top - point.y, 0, point.y - box.bottom));
            for (const { element, box } of targets.filter(target => isSmall(target.box))) {
                // A circle of 24 pixels at its centre has to be free.
                const isNear = other => other.element !== element && place(other.element) === place(element)
                    && (distance(centre(box), other.box) < 12
                        || isSmall(other.box) && distance(centre(box), centre(other.box)) < 24);
                if (targets.some(isNear)) note("small target", element);
            }

            // MARK: Focus

            const focusable = "a[href], button, input, select, textarea, [tabindex]";
            const reachable = ":is(a[href], button, input:not([type=hidden]), select, textarea, [tabindex='0'])";
            const scrolls = (overflow, size, visible) => ["auto", "scroll"].includes(overflow) && size > visible + 1;
            for (const element of all("body *").filter(isRead)) {
                const style = getComputedStyle(element);
                if (!scrolls(style.overflowX, element.scrollWidth, element.clientWidth)
                    && !scrolls(style.overflowY, element.scrollHeight, element.clientHeight)) continue;
                if (!element.matches(reachable) && !element.querySelector(reachable)) note("no way to scroll", element);
            }
            for (const element of all(`[aria-hidden=true] :is(${focusable})`)) note("hidden control", element);
            for (const element of all("[tabindex]")) if (element.tabIndex > 0) note("order of focus", element);
            const active = document.activeElement;
            for (const element of all(`[inert] :is(${focusable})`)) {
                element.focus();
                if (document.activeElement === element) note("focus in what is covered", element);
            }
            active.focus();

            // MARK: Contrast

            const channels = color => [...color.match(/[\d.]+/g).map(Number), 1].slice(0, 4);
            const blend = (below, top) => [0, 1, 2].map(index => top[index] * top[3] + below[index] * (1 - top[3]));
            const ancestors = element => element ? [...ancestors(element.parentElement), element] : [];
            const background = element => ancestors(element)
                .map(ancestor => channels(getComputedStyle(ancestor).backgroundColor)).reduce(blend, [255, 255, 255]);
            const luminance = color => color.map(value => value / 255)
                .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
                .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
            function checkContrast(element, part) {
                const below = background(element), top = channels(getComputedStyle(element, part).color);
                for (const ancestor of ancestors(element)) top[3] *= Number(getComputedStyle(ancestor).opacity);
                // Text that is only heard.
                if (top[3] === 0) return;
                const [light, dark] = [luminance(below), luminance(blend(below, top))].sort((a, b) => b - a);
                const ratio = (light + 0.05) / (dark + 0.05);
                if (ratio < 4.5) note(`contrast ${ratio.toFixed(2)}`, element);
            }
            const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (nodes.nextNode()) {
                const element = nodes.currentNode.parentElement;
                if (!nodes.currentNode.data.trim() || !isRead(element)) continue;
                if (!element.closest("header, main, dialog, [role=status]")) note("text outside landmarks", element);
                if (!element.closest(":disabled, [aria-disabled=true]")) checkContrast(element);
            }
            for (const element of all("input:not([type=hidden]), select, textarea").filter(isRead)) {
                if (element.disabled) continue;
                checkContrast(element);
                if (element.placeholder) checkContrast(element, "::placeholder");
            }
            return problems;
        })()
        """#
}
