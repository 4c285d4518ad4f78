/// A misspelt name, with a letter that is missing, added or wrong, or with two letters in the wrong order.
package struct Misspelling {
    package let text: String

    /// Creates a misspelling that differs from the name and from all other names.
    package init(of name: String, besides names: some Collection<String>, _ numbers: inout SeededNumbers) {
        var text = name
        while text == name || names.contains(text) {
            var letters = Array(name)
            let place = Int.random(in: 1..<letters.count, using: &numbers)
            switch Int.random(in: 0..<4, using: &numbers) {
            case 0: letters.remove(at: place)
            case 1: letters.insert(letters[place], at: place)
            case 2: letters[place] = numbers.pick(Array("aeinrst"))
            default: letters.swapAt(place - 1, place)
            }
            text = String(letters)
        }
        self.text = text
    }
}
