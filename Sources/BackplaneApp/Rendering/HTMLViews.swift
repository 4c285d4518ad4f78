import BackplaneScreens

/// The HTML of views: of each kind, in each place.
struct HTMLViews {
    let addresses: HTMLRendering.Addresses

    init(_ addresses: HTMLRendering.Addresses) { self.addresses = addresses }

    /// Writes the views of a body, within the element of the screen.
    func write(_ body: [View], to html: inout HTMLWriter) {
        for (index, view) in body.enumerated() {
            html.within(view, at: index) { write(view, ViewPlace(), to: &$0) }
        }
    }

    /// Writes a view, which is the current element of the writer.
    func write(_ view: View, _ place: ViewPlace, to html: inout HTMLWriter) {
        guard place.isWrapped else { return write(view, place, Element(isCovered: place.isCovered), &html) }
        html.markup(place.parent == .list ? "<li" : "<td")
        html.id()
        html.markup(">")
        write(view, place, Element(isInner: true), &html)
        html.markup(place.parent == .list ? "</li>" : "</td>")
    }

    /// The beginning of the element of a view.
    private struct Element {
        /// A Boolean value that indicates whether the element is within the one with the view's id.
        var isInner = false
        var isCovered = false
    }

    /// Begins an element with the id of the view, whose tag is not closed.
    private func begin(_ tag: StaticString, _ element: Element, _ html: inout HTMLWriter) {
        html.markup("<")
        html.markup(tag)
        html.id(" id=", element.isInner ? "~" : "")
        if element.isCovered { html.markup(" inert") }
    }

    private func write(_ view: View, _ place: ViewPlace, _ element: Element, _ html: inout HTMLWriter) {
        switch view.kind {
        case .column: container("div", " class=\"column\"", view, place, element, &html)
        case .row: container("div", " class=\"row\"", view, place, element, &html)
        case .record: container("tr", "", view, place, element, &html)
        case .list: container("ul", " class=\"list\" role=\"list\"", view, place, element, &html)
        case .overlay: container("div", " class=\"overlay\"", view, place, element, &html)
        case .section: section(view, place, element, &html)
        case .table: table(view, place, element, &html)
        case .text: text(view, element, &html)
        case .heading: heading(view, place, element, &html)
        case .progress: progress(view, element, &html)
        case .image: image(view, element, &html)
        case .field: field(view, element, &html)
        case .choice: choice(view, element, &html)
        case .toggle: toggle(view, element, &html)
        case .button: button(view, element, &html)
        case .link: link(view, element, &html)
        }
    }

    // MARK: Containers

    private func container(
        _ tag: StaticString, _ attributes: StaticString, _ view: View, _ place: ViewPlace, _ element: Element,
        _ html: inout HTMLWriter
    ) {
        begin(tag, element, &html)
        html.markup(attributes)
        html.markup(">")
        children(of: view, place, &html)
        end(tag, &html)
    }

    private func children(of view: View, _ place: ViewPlace, _ html: inout HTMLWriter) {
        for (index, child) in view.children.enumerated() {
            html.within(child, at: index) { write(child, place.place(ofChild: index, in: view), to: &$0) }
        }
    }

    private func end(_ tag: StaticString, _ html: inout HTMLWriter) {
        html.markup("</")
        html.markup(tag)
        html.markup(">")
    }

    private func section(_ view: View, _ place: ViewPlace, _ element: Element, _ html: inout HTMLWriter) {
        let heading = Self.heading(2 + place.sections)
        begin("section", element, &html)
        html.markup(" class=\"section\"")
        html.id(" aria-labelledby=", "~title")
        html.markup("><")
        html.markup(heading)
        html.id(" id=", "~title")
        html.markup(">")
        html.text(view.text)
        end(heading, &html)
        children(of: view, place, &html)
        html.markup("</section>")
    }

    private func table(_ view: View, _ place: ViewPlace, _ element: Element, _ html: inout HTMLWriter) {
        begin("table", element, &html)
        // Where the screen is narrow, it scrolls, also with keys.
        html.markup(" tabindex=\"0\"><thead><tr>")
        for column in view.options {
            html.markup("<th scope=\"col\">")
            html.text(column.title)
            html.markup("</th>")
        }
        html.markup("</tr></thead><tbody")
        html.id(" id=", "~rows")
        html.markup(">")
        children(of: view, place, &html)
        html.markup("</tbody></table>")
    }

    // MARK: Texts

    private func style(_ style: View.Style, _ html: inout HTMLWriter) {
        switch style {
        case .normal, .code: break
        case .secondary: html.markup(" class=\"secondary\"")
        case .strong: html.markup(" class=\"strong\"")
        case .critical: html.markup(" class=\"critical\"")
        }
    }

    private func text(_ view: View, _ element: Element, _ html: inout HTMLWriter) {
        begin("p", element, &html)
        style(view.style, &html)
        if view.style == .critical { html.markup(" role=\"alert\"") }
        html.markup(view.style == .code ? "><code>" : ">")
        html.text(view.text)
        html.markup(view.style == .code ? "</code></p>" : "</p>")
    }

    private static func heading(_ level: Int) -> StaticString {
        switch level {
        case ...1: "h1"
        case 2: "h2"
        case 3: "h3"
        case 4: "h4"
        case 5: "h5"
        default: "h6"
        }
    }

    private func heading(_ view: View, _ place: ViewPlace, _ element: Element, _ html: inout HTMLWriter) {
        // Below the title of the section.
        let level = view.level + (place.sections == 0 ? 0 : 1 + place.sections)
        begin(Self.heading(level), element, &html)
        style(view.style, &html)
        html.markup(level == 1 ? " tabindex=\"-1\">" : ">")
        html.text(view.text)
        end(Self.heading(level), &html)
    }

    private func progress(_ view: View, _ element: Element, _ html: inout HTMLWriter) {
        begin("div", element, &html)
        html.markup(" class=\"progress\" role=\"status\">")
        label(view, &html)
        html.markup("<progress")
        html.id(" id=", "~control")
        if view.text.isEmpty { html.markup(" aria-label=\"Progress\"") }
        if let fraction = view.fraction {
            html.attribute(" value=", "\(fraction)")
            html.markup(">")
            html.text("\(Int(fraction * 100))")
            html.markup(" %</progress></div>")
        } else {
            html.markup("></progress></div>")
        }
    }

    private func image(_ view: View, _ element: Element, _ html: inout HTMLWriter) {
        guard view.address.isEmpty || view.isBusy || !view.problem.isEmpty else {
            begin("img", element, &html)
            html.attribute(" class=\"image\" src=", addresses.image(view.address))
            html.attribute(" alt=", view.text)
            html.markup(" loading=\"lazy\">")
            return
        }
        begin("div", element, &html)
        html.markup(" class=\"image\"")
        // The content of such an element is not read.
        let label = [view.text, view.problem].filter { !$0.isEmpty }.joined(separator: ": ")
        if !label.isEmpty { html.attribute(" role=\"img\" aria-label=", label) }
        if view.isBusy { html.markup(" aria-busy=\"true\"") }
        html.markup(">")
        html.text(view.problem.isEmpty ? view.text : view.problem)
        html.markup("</div>")
    }

    // MARK: Controls

    private func label(_ view: View, _ html: inout HTMLWriter) {
        guard !view.text.isEmpty else { return }
        html.markup("<label")
        html.id(" for=", "~control")
        html.markup(">")
        html.text(view.text)
        html.markup("</label>")
    }

    /// Writes the id, the name and the states of a control.
    private func attributes(_ view: View, _ html: inout HTMLWriter) {
        html.id(" id=", "~control")
        html.id(" name=")
        if view.text.isEmpty { html.attribute(" aria-label=", view.prompt.isEmpty ? view.id : view.prompt) }
        if view.isDisabled { html.markup(" disabled") }
        guard !view.problem.isEmpty else { return }
        html.markup(" aria-invalid=\"true\"")
        html.id(" aria-describedby=", "~problem")
    }

    /// Writes the problem of a control.
    private func problem(_ view: View, _ html: inout HTMLWriter) {
        html.markup("<p class=\"problem\" aria-live=\"polite\"")
        html.id(" id=", "~problem")
        html.markup(">")
        html.text(view.problem)
        html.markup("</p>")
    }

    /// Writes the button that sends the value of an immediate control, for pages without script.
    private func apply(_ view: View, _ html: inout HTMLWriter) {
        html.markup("<noscript><button name=\"change\"")
        html.id(" value=")
        html.markup(view.isDisabled ? " disabled><span>Apply</span>" : "><span>Apply</span>")
        html.markup("</button></noscript>")
    }

    private func field(_ view: View, _ element: Element, _ html: inout HTMLWriter) {
        begin("div", element, &html)
        html.markup(" class=\"field\">")
        label(view, &html)
        html.markup(view.content == .multiline ? "<textarea" : "<input")
        attributes(view, &html)
        if view.isLive { html.markup(" data-live") }
        if !view.prompt.isEmpty { html.attribute(" placeholder=", view.prompt) }
        switch view.content {
        case .multiline:
            // A line feed after the tag is not part of the text.
            html.markup(">\n")
            html.text(view.value)
            html.markup("</textarea>")
        case .secret:
            html.markup(" type=\"password\" autocomplete=\"off\"")
            // A script clears the field when the screen does.
            html.markup(view.value.isEmpty ? ">" : " data-filled>")
        case .text: value(view, " type=\"text\" value=", &html)
        case .search: value(view, " type=\"search\" value=", &html)
        case .number: value(view, " type=\"text\" inputmode=\"decimal\" value=", &html)
        case .email: value(view, " type=\"email\" autocomplete=\"email\" value=", &html)
        }
        problem(view, &html)
        if view.isLive { apply(view, &html) }
        html.markup("</div>")
    }

    private func value(_ view: View, _ attributes: StaticString, _ html: inout HTMLWriter) {
        html.attribute(attributes, view.value)
        html.markup(">")
    }

    private func choice(_ view: View, _ element: Element, _ html: inout HTMLWriter) {
        begin("div", element, &html)
        html.markup(" class=\"choice\">")
        label(view, &html)
        html.markup("<select")
        attributes(view, &html)
        html.markup(">")
        if !view.options.contains(where: { $0.value == view.value }) {
            html.markup("<option value=\"\" selected disabled></option>")
        }
        for option in view.options {
            html.attribute("<option value=", option.value)
            html.markup(option.value == view.value ? " selected>" : ">")
            html.text(option.title)
            html.markup("</option>")
        }
        html.markup("</select>")
        problem(view, &html)
        apply(view, &html)
        html.markup("</div>")
    }

    private func toggle(_ view: View, _ element: Element, _ html: inout HTMLWriter) {
        begin("div", element, &html)
        html.markup(" class=\"toggle\"><input type=\"hidden\" value=\"false\"")
        html.id(" name=")
        html.markup(view.isDisabled ? " disabled>" : ">")
        html.markup("<label><input type=\"checkbox\" role=\"switch\" value=\"true\"")
        attributes(view, &html)
        html.markup(view.value == "true" ? " checked> " : "> ")
        html.text(view.text)
        html.markup("</label>")
        problem(view, &html)
        apply(view, &html)
        html.markup("</div>")
    }

    private func button(_ view: View, _ element: Element, _ html: inout HTMLWriter) {
        begin("button", element, &html)
        style(view.style, &html)
        html.markup(" name=\"press\"")
        html.id(" value=")
        if view.text.isEmpty { html.attribute(" aria-label=", view.id) }
        // A disabled element would lose the focus, but a busy one can be used again soon.
        if view.isDisabled { html.markup(view.isBusy ? " aria-disabled=\"true\"" : " disabled") }
        if view.isBusy { html.markup(" aria-busy=\"true\"") }
        html.markup("><span>")
        html.text(view.text)
        html.markup("</span></button>")
    }

    private func link(_ view: View, _ element: Element, _ html: inout HTMLWriter) {
        begin("a", element, &html)
        style(view.style, &html)
        if view.isDisabled {
            html.markup(" role=\"link\" aria-disabled=\"true\"")
        } else if let destination = view.destination {
            html.attribute(" href=", addresses.screen(destination))
        } else if Self.isOnTheWeb(view.address) {
            html.attribute(" rel=\"noopener noreferrer\" href=", view.address)
        }
        if !view.problem.isEmpty { html.attribute(" title=", view.problem) }
        html.markup(">")
        html.text(view.text.isEmpty ? view.address : view.text)
        html.markup("</a>")
    }

    /// Returns whether a page may link to an address, which must not be a script.
    static func isOnTheWeb(_ address: String) -> Bool {
        let start = address.prefix(8).lowercased()
        return start.hasPrefix("http://") || start == "https://"
    }
}

extension ViewPlace {
    /// A Boolean value that indicates whether a view is here in an element around it: a row of a list, or a cell.
    var isWrapped: Bool { parent == .list || parent == .record }
}
