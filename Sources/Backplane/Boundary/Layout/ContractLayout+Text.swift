/// The text of a contract's layouts: a line for each, with its subject.
///
/// A type is described where it first occurs.
///
///     call: #0=struct Backplane.Call 64/8/64/0{…}
///     failure: #2=struct Backplane.BackplaneError 80/8/80/4096{…}
///     async search takes: #5=struct Library.BookQuery 16/8/16/4096{text:String}
///     refused async search answers: `Book`, where `Book.cover` is `Cover`, a class
///
/// The text of a state is one line, which begins with `state: `.
extension ContractLayout {
    package var text: String {
        var text = ""
        for entry in entries {
            if !text.isEmpty { text += "\n" }
            switch entry.layout {
            case .type(let layout):
                text += "\(entry.subject.text): "
                layout.write(to: &text)
            case .refused(let reason):
                text += "refused \(entry.subject.text): \(reason)"
            }
        }
        return text
    }
}

extension ContractLayout.Subject {
    fileprivate var text: String {
        switch self {
        case .state: "state"
        case .call: "call"
        case .failure: "failure"
        case .input(let name, let kind): "\(kind.word ?? "") \(LayoutName.quoted(name)) takes"
        case .output(let name, let kind): "\(kind.word ?? "") \(LayoutName.quoted(name)) answers"
        }
    }
}
