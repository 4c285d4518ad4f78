#if Engines
import Backplane
import BackplaneApp
import BackplaneExchange
import BackplaneHost
import BackplaneHummingbird
import BackplaneTestKit
import TestFixtures
import Testing

/// The pages of the example in a real browser, without its server.
@Suite(.timeLimit(.minutes(5)), .nightly, .enabled(if: WebBrowser.isThere, WebBrowser.isMissing))
struct ScreenAccessibilityTests {
    @Test(arguments: [("light", 900), ("dark", 900), ("light", 375)])
    func `all pages can be read and used without eyes or a mouse, with weak eyes, and on a phone`(
        scheme: String, width: Int
    ) async throws {
        try await show(scheme, width: width) { browser in
            try await browser.wait(for: "document.body.innerText.includes('3 books')")
            try await browser.wait(for: "document.querySelectorAll('img').length === 3")
            try await expectNoProblems("catalogue", browser)
            try await browser.click("input[type=search]")
            try await browser.type("whale")
            try await browser.wait(for: "document.querySelector('input[type=search]').defaultValue === 'whale'")
            try await browser.wait(for: "!document.querySelector('progress')")
            try await expectNoProblems("search", browser)
            try await browser.click(".list a")
            try await browser.wait(for: "document.title === 'The Cruise of the Cachalot'")
            try await expectNoProblems("book", browser)
            try await browser.click("button[value$='/borrow']")
            try await browser.wait(for: "document.body.innerText.includes('due in')")
            try await expectNoProblems("loans", browser)
            try await browser.click("button[value$='/return']")
            try await browser.wait(for: "document.querySelector('#modal dialog')")
            try await expectNoProblems("question", browser)
        }
    }

    @Test func `the rules find what is wrong`() async throws {
        let page = """
            <html><body><p>outside</p><main><h1>Books</h1><h3>Whales</h3><a href="/x"></a><img src="y"><input>
            <button><a href="/z">z</a></button><p id="a">one</p><p id="a" style="color: rgb(136, 136, 136)">two</p>
            <label for="b">three</label><table><tr><th>four</th></tr></table><ul><p>five</p></ul>
            <div aria-hidden="true"><button tabindex="1">six</button></div>
            <ul role="button"></ul><p aria-label="seven" aria-checked="true">seven</p>
            <button style="width: 10px; height: 10px">8</button><button style="width: 10px; height: 10px">9</button>
            <div style="height: 20px; overflow: auto">ten<br>eleven<br>twelve</div></main></body></html>
            """
        try await WebBrowser.run { browser in
            try await browser.open("data:text/html," + page)
            let problems = try await browser.value(of: AccessibilityRules.problems, as: [String].self)
            #expect(
                Set(problems.compactMap { $0.split(separator: ": <").first }) == [
                    "attribute of another role", "contrast 3.54", "control within another", "for that leads nowhere",
                    "heading that skips a level", "hidden control", "id that is not unique", "no alternative text",
                    "no language", "no name", "no scope", "no title", "no way to scroll", "not a list",
                    "not one body > header", "order of focus", "role of another element", "small target",
                    "text outside landmarks",
                ])
        }
    }

    private func expectNoProblems(
        _ page: String, _ browser: WebBrowser, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let problems = try await browser.value(of: AccessibilityRules.problems, as: [String].self)
        #expect(problems == [], "\(page)", sourceLocation: location)
    }

    /// Shows the example in a browser with a light or dark appearance.
    private func show(_ scheme: String, width: Int, _ body: (WebBrowser) async throws -> Void) async throws {
        let mocks = Mocks(folders: [Bookshelf.manifests + "/mocks"])
        try await Bookshelf.run("bookshelf-screens.json", server: Bookshelf.nowhere, mocks: mocks) { shelf, _ in
            let screens = WebScreens(AppManager(shelf.host))
            let server = HostServer(screens, ServerSettings(listen: "127.0.0.1:0"))
            let run = Task { try await server.run() }
            let settings = WebBrowser.Settings(
                width: width, height: 700, media: ["prefers-color-scheme": scheme])
            do {
                let address = try await server.listening()
                try await WebBrowser.run(settings) { browser in
                    try await browser.open(screens.signInAddress(at: "http://\(address)"))
                    try await body(browser)
                }
            } catch {
                await server.stop()
                throw error
            }
            await server.stop()
            try await run.value
        }
    }
}

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
#endif
